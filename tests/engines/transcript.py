"""Writes vLLM's stream by hand, chunk by chunk, the way a 0.25 server sends it."""

import json
from typing import Any

DONE = b"data: [DONE]\n\n"


def event(payload: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def chunk(tokens: int | None, *, finish: str | None = None, prompt: int = 12, **delta: str) -> bytes:
    """One chunk; `tokens` is its usage so far, None where the engine was not asked for it."""
    payload: dict[str, Any] = {
        "id": "chatcmpl-run.architect.1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    if tokens is not None:
        payload["usage"] = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
    return event(payload)


def usage(tokens: int, prompt: int = 12) -> bytes:
    return event(
        {
            "choices": [],
            "usage": {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens},
        }
    )
