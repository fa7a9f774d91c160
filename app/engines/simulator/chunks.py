"""Encode a reply as vLLM's JSON, as stream chunks or as one answer."""

import time
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgspec

from app.engines.simulator.reply_creation import Reply, ReplyPiece, join_text

DONE = b"data: [DONE]\n\n"
_FINGERPRINT = "temper-simulated"


@dataclass(frozen=True)
class ChunkEncoder:
    id: str
    model: str
    prompt_tokens: int
    usage: bool
    usage_on_each: bool
    created: int = field(default_factory=lambda: int(time.time()))

    def encode_opening(self) -> bytes:
        return self._encode_chunk({"role": "assistant", "content": ""}, 0)

    def encode_pieces(self, pieces: tuple[ReplyPiece, ...], tokens_so_far: int) -> list[bytes]:
        """Encode one chunk per channel; without pieces, one empty chunk."""
        if not pieces:
            return [self._encode_chunk({"content": ""}, tokens_so_far)]
        chunks, tokens_so_far = [], tokens_so_far - len(pieces)
        for channel, group in groupby(pieces, lambda piece: piece.channel):
            texts = [piece.text for piece in group]
            tokens_so_far += len(texts)
            chunks.append(self._encode_chunk({channel: "".join(texts)}, tokens_so_far))
        return chunks

    def encode_finish(self, reason: str, tokens: int) -> bytes:
        return self._encode_chunk({"content": ""}, tokens, finish_reason=reason, stop_reason=None)

    def encode_usage_if_requested_and_done(self, completion_tokens: int) -> bytes:
        """Encode the end of the stream, with the total usage if requested."""
        if not self.usage:
            return DONE
        counts = {"usage": build_usage(self.prompt_tokens, completion_tokens), "system_fingerprint": _FINGERPRINT}
        return encode_event({**self._build_head(), "choices": [], **counts}) + DONE

    def _encode_chunk(self, delta: dict[str, str], tokens_so_far: int, **choice: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **choice}]
        counts = {"usage": build_usage(self.prompt_tokens, tokens_so_far)} if self.usage_on_each else {}
        return encode_event({**self._build_head(), "choices": choices, **counts})

    def _build_head(self) -> dict[str, Any]:
        return {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}


def encode_event(payload: object) -> bytes:
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"


def build_usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    total = prompt_tokens + completion_tokens
    return {"prompt_tokens": prompt_tokens, "total_tokens": total, "completion_tokens": completion_tokens}


def build_completion(request_id: str, model: str, reply: Reply) -> dict[str, Any]:
    content, reasoning = join_text(reply.pieces, "content"), join_text(reply.pieces, "reasoning")
    message = {"role": "assistant", "content": content, "reasoning": reasoning or None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    return {
        "id": request_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{**choice, "stop_reason": None}],
        "system_fingerprint": _FINGERPRINT,
        "usage": build_usage(reply.prompt_tokens, reply.completion_tokens),
    }


def build_error(status: int, kind: str, message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}
