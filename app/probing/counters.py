"""What an engine's own counters say about the time between two samples. Pure."""

from app.engines.metrics import EngineSample
from app.probing.figure import Figure, unknown
from app.probing.figures import Origin

TOLERATED = 0.02
"""Tokens that are not ours, as a share of ours: counters are read a moment apart from the answers."""
_SILENT = "its metrics do not say"


def acceptance(before: EngineSample | None, after: EngineSample | None, origin: Origin) -> list[Figure]:
    drafts, drafted, accepted = (_growth(before, after, name) for name in ("drafts", "draft_tokens", "accepted_tokens"))
    if not drafts or not drafted or accepted is None:
        why = "nothing was drafted"
        return [unknown("acceptance_length", "", why), unknown("acceptance_rate", "%", why)]
    said = f"{accepted} of {drafted} tokens accepted in {drafts} steps, on our own plain English"
    return [
        origin.figure("acceptance_length", 1 + accepted / drafts, "", f"1 + accepted ÷ steps: {said}"),
        origin.figure("acceptance_rate", 100 * accepted / drafted, "%", said),
    ]


def kv_capacity(after: EngineSample | None, origin: Origin) -> Figure:
    tokens: int | None = getattr(after, "kv_tokens", None)
    if tokens is None:
        return unknown("kv_tokens", "tokens", _SILENT)
    return origin.figure("kv_tokens", tokens, "tokens", "kv_cache_size_tokens of its metrics")


def foreign(before: EngineSample | None, after: EngineSample | None, ours: int) -> tuple[str, ...]:
    """A note where it answered others meanwhile."""
    generated = _growth(before, after, "generation_tokens")
    others = (generated or 0) - ours
    if others <= TOLERATED * ours:
        return ()
    return (
        f"It generated {others} tokens for somebody else meanwhile: the speeds are lower than they would be alone.",
    )


def _growth(before: EngineSample | None, after: EngineSample | None, name: str) -> int | None:
    """None too where a counter fell: the engine started anew in between."""
    old: int | None = getattr(before, name, None)
    new: int | None = getattr(after, name, None)
    return None if old is None or new is None or new < old else new - old
