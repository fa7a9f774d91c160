"""Compare plan, reported figures, this probe and the previous one. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.engines.fit.estimate_result import Estimate, Fit
from app.events.event_field_types import Provenance
from app.lineups.model import Engine
from app.machine.measuring.engine_memory_estimate import EnginePlan
from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_load_steps import STEPS, STREAM_TOKENS, SUSTAINED, ProbeStep
from app.machine.measuring.probe_result import ProbeResult

_MAIN = (
    "weights_gib_per_gpu",
    "kv_pool_gib_per_gpu",
    "vram_gib_per_gpu",
    "resident_gib",
    "kv_tokens",
    "load_s",
    f"{SUSTAINED.key}.tok_s",
    "limit_share",
    f"{SUSTAINED.key}.ttft_s",
    f"8x{STREAM_TOKENS}.all_tok_s",
    "acceptance_length",
)
RowSpec = tuple[str, str, str, int]
"""Name of the figure, label, unit and digits."""
_OF_MEMORY: tuple[RowSpec, ...] = (
    ("weights_gib_per_gpu", "weights, per GPU", "GiB", 2),
    ("kv_pool_gib_per_gpu", "KV pool, per GPU", "GiB", 2),
    ("other_gib_per_gpu", "graphs and other, per GPU", "GiB", 2),
    ("graphs_gib_per_gpu", "… CUDA graphs", "GiB", 2),
    ("vram_gib_per_gpu", "in all, fullest GPU", "GiB", 1),
    ("resident_gib", "main memory of its process", "GiB", 2),
    ("kv_tokens", "KV cache", "tokens", 0),
    ("max_concurrency", "requests at full length", "", 2),
    ("load_s", "cold load", "s", 0),
)


@dataclass(frozen=True)
class ComparedRow:
    name: str
    label: str
    unit: str
    digits: int
    plan: Measured | None
    reported: Measured | None
    now: Measured | None
    before: Measured | None

    @property
    def ratio_to_previous_probe(self) -> float | None:
        """This probe's value over the previous one's."""
        new, old = (one.value if one else None for one in (self.now, self.before))
        return new / old if new is not None and old else None

    @property
    def plan_bound_sign(self) -> str:
        """A sign before the plan's figure if it is a limit, not an expectation."""
        return "≤ " if self.name == f"{SUSTAINED.key}.tok_s" else ""

    @property
    def is_main(self) -> bool:
        """True for the few figures that decide whether the engine is adequate."""
        return self.name in _MAIN

    @property
    def is_empty(self) -> bool:
        return not any(one and one.value is not None for one in (self.plan, self.reported, self.now, self.before))


def compare_figures(
    engine: Engine, fit: Fit | None, newest_result: ProbeResult | None, earlier_result: ProbeResult | None
) -> tuple[ComparedRow, ...]:
    plan, reported = _get_planned_figures_by_name(engine, fit), _build_lineup_published_figures_by_name(engine, fit)
    rows = (
        ComparedRow(
            *spec,
            plan=plan.get(spec[0]),
            reported=reported.get(spec[0]),
            now=newest_result.find_figure(spec[0]) if newest_result else None,
            before=earlier_result.find_figure(spec[0]) if earlier_result else None,
        )
        for spec in _iterate_row_specs(engine, newest_result)
    )
    return tuple(row for row in rows if not row.is_empty)


def describe_changed_conditions(newest_result: ProbeResult, earlier_result: ProbeResult) -> tuple[str, ...]:
    earlier, newest = earlier_result.conditions, newest_result.conditions
    pairs = [(name, earlier.get(name, "—"), newest.get(name, "—")) for name in dict.fromkeys([*earlier, *newest])]
    return tuple(f"{name}: {old} → {new}" for name, old, new in pairs if old != new)


def _iterate_row_specs(engine: Engine, newest_result: ProbeResult | None) -> Iterator[RowSpec]:
    yield from _OF_MEMORY
    for one in newest_result.figures if newest_result else ():
        if one.name.startswith("load_s."):
            yield one.name, f"… {one.name.removeprefix('load_s.')}", "s", 1
    for step in STEPS:
        if step.streams == 1:
            yield f"{step.key}.tok_s", f"speed, {_format_step(step)}", "tok/s", 1
    yield "limit_share", "of its speed limit", "%", 0
    for step in STEPS:
        yield f"{step.key}.ttft_s", f"first token, {_format_step(step)}", "s", 2
    for step in STEPS:
        if step.tokens == STREAM_TOKENS:
            yield f"{step.key}.all_tok_s", f"all together, {_format_step(step)}", "tok/s", 1
        if step.streams > 1:
            yield f"{step.key}.tok_s", f"each of them, {_format_step(step)}", "tok/s", 1
    yield "acceptance_length", "tokens accepted a step", "", 2
    yield "acceptance_rate", "of drafted tokens accepted", "%", 0
    for gpu in sorted({gpu for replica in engine.replicas for gpu in replica}):
        for name, when in (("idle", "before loading"), ("loaded", "loaded"), ("peak", "at peak"), ("after", "after")):
            yield f"{name}_gib.{gpu}", f"GPU {gpu}, {when}", "GiB", 1


def _format_step(step: ProbeStep) -> str:
    return f"{step.streams} × {step.tokens} tokens"


def _get_planned_figures_by_name(engine: Engine, fit: Fit | None) -> dict[str, Measured]:
    found, units = {}, {name: unit for name, _, unit, _ in _OF_MEMORY}
    if fit:
        for name in ("weights_gib_per_gpu", "kv_pool_gib_per_gpu", "other_gib_per_gpu", "kv_tokens", "max_concurrency"):
            one: Estimate = getattr(fit, name)
            found[name] = Measured(name, one.value, units[name], one.provenance, one.source)
        parts = [fit.weights_gib_per_gpu, fit.kv_pool_gib_per_gpu, fit.other_gib_per_gpu]
        values = [one.value for one in parts if one.value is not None]
        if len(values) == len(parts):
            provenance: Provenance = "estimated" if any(one.provenance == "estimated" for one in parts) else "derived"
            source = "weights + KV pool + graphs and other: " + " + ".join(f"{value:.2f}" for value in values)
            found["vram_gib_per_gpu"] = Measured("vram_gib_per_gpu", sum(values), "GiB", provenance, source)
    if limit := get_computed_or_stated_speed_limit(engine, fit):
        name = f"{SUSTAINED.key}.tok_s"
        found[name] = Measured(name, limit.value, "tok/s", limit.provenance, f"at most: {limit.source}")
    if engine.speculation and engine.speculation.acceptance:
        name, source = "acceptance_length", engine.speculation.source or "the line-up's assumption"
        found[name] = Measured(name, engine.speculation.acceptance, "", "estimated", source)
    return found


def get_computed_or_stated_speed_limit(engine: Engine, fit: Fit | None) -> Estimate | None:
    """Return the limit of one stream without speculation: computed, or else the line-up's own figure."""
    if fit and fit.limit_tok_s.value is not None:
        return fit.limit_tok_s
    if engine.limit_tok_s is not None:
        return Estimate(engine.limit_tok_s, "derived", engine.limit_source.removeprefix("derived: "))
    return None


def _build_lineup_published_figures_by_name(engine: Engine, fit: Fit | None) -> dict[str, Measured]:
    said = engine.reported
    if said is None:
        return {}
    stated = (
        (f"{SUSTAINED.key}.tok_s", "tok/s", said.tok_s),
        ("weights_gib_per_gpu", "GiB", said.weights_gib_per_gpu),
        ("vram_gib_per_gpu", "GiB", said.vram_gib_per_gpu),
        ("kv_tokens", "tokens", said.kv_tokens),
        ("load_s", "s", said.cold_load_s),
    )
    known = [one for one in stated if one[2] is not None]
    figures = {name: Measured(name, value, unit, "measured", said.source) for name, unit, value in known}
    limit = get_computed_or_stated_speed_limit(engine, fit)
    if said.tok_s is not None and limit and limit.value:
        source = f"{said.tok_s:g} ÷ {limit.value:.1f} tok/s"
        figures["limit_share"] = Measured("limit_share", 100 * said.tok_s / limit.value, "%", "derived", source)
    return figures


@dataclass(frozen=True)
class ProbeComparison:
    engine: str
    title: str
    replica: int
    gpus: tuple[int, ...]
    verdict: str
    """The plan's verdict in a sentence, or why there is none."""
    fits: bool | None
    limit: Estimate | None
    rows: tuple[ComparedRow, ...]
    now: ProbeResult | None
    before: ProbeResult | None
    changed: tuple[str, ...]
    """Conditions that differ from the earlier probe."""


def compare_probe_results(
    engine: Engine,
    replica: int,
    plan: EnginePlan,
    newest_result: ProbeResult | None,
    earlier_result: ProbeResult | None,
) -> ProbeComparison:
    return ProbeComparison(
        engine=engine.name,
        title=engine.title,
        replica=replica,
        gpus=engine.replicas[replica],
        verdict=plan.says,
        fits=plan.fits,
        limit=get_computed_or_stated_speed_limit(engine, plan.fit),
        rows=compare_figures(engine, plan.fit, newest_result, earlier_result),
        now=newest_result,
        before=earlier_result,
        changed=describe_changed_conditions(newest_result, earlier_result) if newest_result and earlier_result else (),
    )
