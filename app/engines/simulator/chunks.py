"""Encode a reply as vLLM's JSON, as stream chunks or as one answer."""

import time
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgspec

from app.engines.simulator.reply import Reply, ReplyPiece, text_of

DONE = b"data: [DONE]\n\n"
_FINGERPRINT = "temper-simulated"


@dataclass(frozen=True)
class Chunks:
    id: str
    model: str
    prompt_tokens: int
    usage: bool
    usage_on_each: bool
    created: int = field(default_factory=lambda: int(time.time()))

    def opening(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""}, 0)

    def pieces(self, pieces: tuple[ReplyPiece, ...], tokens: int) -> list[bytes]:
        """Encode one chunk per channel; without pieces, one empty chunk."""
        if not pieces:
            return [self._chunk({"content": ""}, tokens)]
        chunks, tokens = [], tokens - len(pieces)
        for channel, group in groupby(pieces, lambda piece: piece.channel):
            texts = [piece.text for piece in group]
            tokens += len(texts)
            chunks.append(self._chunk({channel: "".join(texts)}, tokens))
        return chunks

    def finish(self, reason: str, tokens: int) -> bytes:
        return self._chunk({"content": ""}, tokens, finish_reason=reason, stop_reason=None)

    def closing(self, tokens: int) -> bytes:
        """Encode the end of the stream, with the total usage if requested."""
        if not self.usage:
            return DONE
        counts = {"usage": usage(self.prompt_tokens, tokens), "system_fingerprint": _FINGERPRINT}
        return event({**self._head(), "choices": [], **counts}) + DONE

    def _chunk(self, delta: dict[str, str], tokens: int, **choice: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **choice}]
        counts = {"usage": usage(self.prompt_tokens, tokens)} if self.usage_on_each else {}
        return event({**self._head(), "choices": choices, **counts})

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}


def event(payload: object) -> bytes:
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"


def usage(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "total_tokens": prompt + completion, "completion_tokens": completion}


def whole(request_id: str, model: str, reply: Reply) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": text_of(reply.pieces, "content"),
        "reasoning": text_of(reply.pieces, "reasoning") or None,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    return {
        "id": request_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{**choice, "stop_reason": None}],
        "system_fingerprint": _FINGERPRINT,
        "usage": usage(reply.prompt_tokens, reply.completion_tokens),
    }


def error(status: int, kind: str, message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}
