"""Figures from an engine's own counters between two samples. Pure."""

from app.engines.engine_metrics import EngineSample
from app.machine.measuring.probe_figures import FigureOrigin, Measured, create_unknown

TOLERATED = 0.02
"""Tolerated share of foreign tokens: counters are read slightly before or after the replies."""
_SILENT = "its metrics do not say"


def measure_acceptance(before: EngineSample | None, after: EngineSample | None, origin: FigureOrigin) -> list[Measured]:
    steps = drafted = accepted = None
    if before and after:
        steps = _compute_growth(before.drafts, after.drafts)
        drafted = _compute_growth(before.draft_tokens, after.draft_tokens)
        accepted = _compute_growth(before.accepted_tokens, after.accepted_tokens)
    if not steps or not drafted or accepted is None:
        why = "nothing was drafted" if after else _SILENT
        return [create_unknown("acceptance_length", "", why), create_unknown("acceptance_rate", "%", why)]
    said = f"{accepted} of {drafted} tokens accepted in {steps} steps, on plain English"
    return [
        origin.create_figure("acceptance_length", 1 + accepted / steps, "", f"1 + accepted ÷ steps: {said}"),
        origin.create_figure("acceptance_rate", 100 * accepted / drafted, "%", said),
    ]


def measure_kv_capacity(after: EngineSample | None, origin: FigureOrigin) -> Measured:
    if after is None or after.kv_tokens is None:
        return create_unknown("kv_tokens", "tokens", _SILENT)
    return origin.create_figure("kv_tokens", after.kv_tokens, "tokens", "kv_cache_size_tokens of its metrics")


def note_foreign_tokens(before: EngineSample | None, after: EngineSample | None, ours: int) -> tuple[str, ...]:
    """Return a note if the engine answered other clients meanwhile."""
    if before is None or after is None:
        return ()
    others = (_compute_growth(before.generation_tokens, after.generation_tokens) or 0) - ours
    if others <= TOLERATED * ours:
        return ()
    return (f"It generated {others} tokens for somebody else meanwhile: alone it would be faster.",)


def _compute_growth(before: int | None, after: int | None) -> int | None:
    """Return the growth, or None if unknown or if the counter fell because the engine restarted."""
    return None if before is None or after is None or after < before else after - before
