"""Readiness check of an engine."""

import httpx
import msgspec

PATIENCE = 5.0
FIRST_TOKEN_PATIENCE = 60.0
"""The first request may still compile kernels."""


async def is_ready_to_serve(http: httpx.AsyncClient, base: str, model: str) -> bool:
    """Return True if the engine is healthy, lists the model and generates a token."""
    try:
        health = await http.get(f"{base.removesuffix('/v1')}/health", timeout=PATIENCE)
        if health.status_code != httpx.codes.OK:
            return False
        models = await http.get(f"{base}/models", timeout=PATIENCE)
        if model not in _read_model_names(models.content):
            return False
        question = {"model": model, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
        said = await http.post(f"{base}/chat/completions", json=question, timeout=FIRST_TOKEN_PATIENCE)
    except (httpx.HTTPError, msgspec.MsgspecError):
        return False
    return said.status_code == httpx.codes.OK


class _Card(msgspec.Struct):
    id: str


class _Cards(msgspec.Struct):
    data: list[_Card]


def _read_model_names(content: bytes) -> list[str]:
    return [card.id for card in msgspec.json.decode(content, type=_Cards).data]
