"""One replica's figures, for the terminal, a page and JSON."""

from dataclasses import dataclass

from app.engines.fit.reckoned import Estimate
from app.lineups.model import Engine
from app.machine.measuring.compare import ComparedRow, compare_figures, find_changed_conditions, find_speed_limit
from app.machine.measuring.planned import EnginePlan
from app.machine.measuring.probed import ProbeResult


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
    """Speed limit of one stream, with its arithmetic."""
    rows: tuple[ComparedRow, ...]
    now: ProbeResult | None
    before: ProbeResult | None
    changed: tuple[str, ...]
    """Conditions that differ from the earlier probe."""


def compare_probe_results(
    engine: Engine, replica: int, plan: EnginePlan, now: ProbeResult | None, before: ProbeResult | None
) -> ProbeComparison:
    return ProbeComparison(
        engine=engine.name,
        title=engine.title,
        replica=replica,
        gpus=engine.replicas[replica],
        verdict=plan.fit.says if plan.fit else plan.why,
        fits=plan.fit.fits if plan.fit else None,
        limit=find_speed_limit(engine, plan.fit),
        rows=compare_figures(engine, plan.fit, now, before),
        now=now,
        before=before,
        changed=find_changed_conditions(now, before) if now and before else (),
    )
