"""Figures from replies, counters and readings. Pure. Tokens are the engine's own count, never chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from app.engines.engine_metrics import EngineSample
from app.engines.fit.estimate_result import Estimate
from app.events.event_field_types import Provenance
from app.machine.measuring.probe_load_steps import SUSTAINED, ProbeStep


@dataclass(frozen=True)
class Measured:
    name: str
    """The same in every probe: `1x512.tok_s`, `loaded_gib.0`."""
    value: float | None
    """None if it could not be measured, never 0."""
    unit: str
    provenance: Provenance
    source: str


def create_unknown(name: str, unit: str, why: str) -> Measured:
    return Measured(name, None, unit, "unsupported", why)


Kind = Literal["rate", "duration", "plain"]
_OF_STEP = (("tok_s", "tok/s"), ("ttft_s", "s"), ("all_tok_s", "tok/s"))
TOLERATED = 0.02
"""Tolerated share of foreign tokens: counters are read slightly before or after the replies."""
_SILENT = "its metrics do not say"


@dataclass(frozen=True)
class TimedReply:
    """One reply with its times, in seconds of one clock."""

    asked: int
    tokens: int
    prompt_tokens: int
    ttft: float | None
    rate: float | None
    """Tokens per second from the first token to the last."""
    left: float
    ended: float


@dataclass(frozen=True)
class FigureOrigin:
    """How figures were obtained. `pace`: speed of a simulated engine relative to the measured one."""

    simulated: bool = False
    pace: float = 1.0

    def create_figure(
        self, name: str, value: float | None, unit: str, source: str, scaled_as: Kind = "plain"
    ) -> Measured:
        if not self.simulated:
            return Measured(name, value, unit, "unsupported" if value is None else "measured", source)
        if scaled_as != "plain" and not self.pace:
            return create_unknown(name, unit, "the simulator keeps no time at pace 0")
        scale = {"rate": 1 / (self.pace or 1), "duration": self.pace, "plain": 1.0}[scaled_as]
        played = f"; simulated at ×{self.pace:g}, brought back to ×1" if scaled_as != "plain" and self.pace != 1 else ""
        return Measured(name, None if value is None else value * scale, unit, "simulated", source + played)


def compute_step_figures(step: ProbeStep, answers: Sequence[TimedReply], origin: FigureOrigin) -> list[Measured]:
    if step.skipped:
        return [create_unknown(f"{step.key}.{name}", unit, step.skipped) for name, unit in _OF_STEP]
    rates = [one.rate for one in answers if one.rate is not None]
    waits = [one.ttft for one in answers if one.ttft is not None]
    tokens = sum(one.tokens for one in answers)
    seconds = max(one.ended for one in answers) - min(one.left for one in answers)
    said = _describe_prompts_and_early_ends(step, answers)
    together = f"{tokens} tokens in {seconds:.2f} s from the first request to the last answer, {said}"
    middle = "" if step.streams == 1 else "median; "
    all_tok_s = tokens / seconds if seconds > 0 else None
    key, create = step.key, origin.create_figure
    return [
        create(f"{key}.tok_s", _find_median(rates), "tok/s", f"{middle}first token to last, {said}", "rate"),
        create(f"{key}.ttft_s", _find_median(waits), "s", f"{middle}request to first token, {said}", "duration"),
        create(f"{key}.all_tok_s", all_tok_s, "tok/s", together, "rate"),
    ]


def _describe_prompts_and_early_ends(step: ProbeStep, answers: Sequence[TimedReply]) -> str:
    prompts = sorted({one.prompt_tokens for one in answers})
    prompt = f"{prompts[0]}" if len(prompts) == 1 else f"{prompts[0]} to {prompts[-1]}"
    short = [one.tokens for one in answers if one.tokens < one.asked]
    stopped = f", {len(short)} ended early, at {min(short)} tokens" if short else ""
    return f"{step.label}{stopped}, prompt of {prompt}, from usage"


def _find_median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def keep_one_per_name_preferring_known(figures: Sequence[Measured]) -> list[Measured]:
    """Keep one figure per name, the first that is known."""
    found: dict[str, Measured] = {}
    for one in figures:
        if one.name not in found or found[one.name].value is None:
            found[one.name] = one
    return list(found.values())


def compute_memory_beside_weights_and_kv(figures: Sequence[Measured]) -> Measured:
    """Return memory that is neither weights nor KV pool, if the rest is known."""
    name, parts = "other_gib_per_gpu", ("vram_gib_per_gpu", "weights_gib_per_gpu", "kv_pool_gib_per_gpu")
    values = [_find_value(figures, part) for part in parts]
    idle = [one.value for one in figures if one.name.startswith("idle_gib.") and one.value is not None]
    whole, weights, pool = values
    if whole is None or weights is None or pool is None or not idle:
        return create_unknown(name, "GiB", "it takes the log of its start, and the memory that was held before")
    source = f"{whole:.2f} in all - {max(idle):.2f} before - weights {weights:.2f} - KV pool {pool:.2f}"
    return Measured(name, whole - max(idle) - weights - pool, "GiB", "derived", source)


def compute_speed_limit_share(figures: Sequence[Measured], speed_limit: Estimate | None) -> Measured:
    """Return the reached share of the bandwidth limit, which speculation raises by the accepted tokens per step."""
    name = "limit_share"
    reached = next((one for one in figures if one.name == f"{SUSTAINED.key}.tok_s"), None)
    if reached is None or reached.value is None:
        return create_unknown(name, "%", f"no speed was measured at {SUSTAINED.label}")
    if speed_limit is None or not speed_limit.value:
        return create_unknown(name, "%", "its speed limit is not known")
    accepted = _find_value(figures, "acceptance_length")
    lifted = f" × {accepted:.2f} tokens accepted a step" if accepted else ""
    source = f"{reached.value:.1f} ÷ ({speed_limit.value:.1f} tok/s{lifted})"
    provenance: Provenance = "simulated" if reached.provenance == "simulated" else "derived"
    return Measured(name, 100 * reached.value / (speed_limit.value * (accepted or 1.0)), "%", provenance, source)


def _find_value(figures: Sequence[Measured], name: str) -> float | None:
    return next((one.value for one in figures if one.name == name), None)


def measure_acceptance(before: EngineSample | None, after: EngineSample | None, origin: FigureOrigin) -> list[Measured]:
    steps = drafted = accepted = None
    if before and after:
        steps = _compute_growth_unless_counter_fell(before.drafts, after.drafts)
        drafted = _compute_growth_unless_counter_fell(before.draft_tokens, after.draft_tokens)
        accepted = _compute_growth_unless_counter_fell(before.accepted_tokens, after.accepted_tokens)
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


def describe_foreign_tokens(
    before: EngineSample | None, after: EngineSample | None, own_token_count: int
) -> tuple[str, ...]:
    """Return a note if the engine answered other clients meanwhile."""
    if before is None or after is None:
        return ()
    others = (
        _compute_growth_unless_counter_fell(before.generation_tokens, after.generation_tokens) or 0
    ) - own_token_count
    if others <= TOLERATED * own_token_count:
        return ()
    return (f"It generated {others} tokens for somebody else meanwhile: alone it would be faster.",)


def _compute_growth_unless_counter_fell(before: int | None, after: int | None) -> int | None:
    """Return the growth, or None if unknown or if the counter fell because the engine restarted."""
    return None if before is None or after is None or after < before else after - before
