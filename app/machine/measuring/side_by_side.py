"""One replica's figures, for the terminal, a page and JSON."""

from dataclasses import dataclass

from app.engines.fit.reckoned import Reckoned
from app.lineups.model import Engine
from app.machine.measuring.compare import ComparedRow, changed, rows, speed_limit
from app.machine.measuring.planned import Planned
from app.machine.measuring.probed import Probed


@dataclass(frozen=True)
class SideBySide:
    engine: str
    title: str
    replica: int
    gpus: tuple[int, ...]
    verdict: str
    """The plan's verdict in a sentence, or why there is none."""
    fits: bool | None
    limit: Reckoned | None
    """Speed limit of one stream, with its arithmetic."""
    rows: tuple[ComparedRow, ...]
    now: Probed | None
    before: Probed | None
    changed: tuple[str, ...]
    """Conditions that differ from the earlier probe."""


def side_by_side(engine: Engine, replica: int, plan: Planned, now: Probed | None, before: Probed | None) -> SideBySide:
    return SideBySide(
        engine=engine.name,
        title=engine.title,
        replica=replica,
        gpus=engine.replicas[replica],
        verdict=plan.fit.says if plan.fit else plan.why,
        fits=plan.fit.fits if plan.fit else None,
        limit=speed_limit(engine, plan.fit),
        rows=rows(engine, plan.fit, now, before),
        now=now,
        before=before,
        changed=changed(now, before) if now and before else (),
    )
