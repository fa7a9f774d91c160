"""Store and read probe results."""

from collections.abc import Sequence

import msgspec
from sqlmodel import Session, col, select

from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import ProbeResult
from app.store.models import ProbeRow


def store_probe(session: Session, probed: ProbeResult) -> None:
    row = ProbeRow(
        id=probed.id,
        at=probed.at,
        lineup=probed.lineup,
        engine=probed.engine,
        replica=probed.replica,
        simulated=probed.simulated,
        gpus=_to_json(probed.gpus),
        conditions=_to_json(probed.conditions),
        figures=_to_json(probed.figures),
        problem=probed.problem,
        notes=_to_json(probed.notes),
    )
    session.add(row)


def read_newest_probes(session: Session, lineup: str, engine: str = "", *, limit: int = 20) -> list[ProbeResult]:
    """Return probe results, newest first."""
    query = select(ProbeRow).order_by(col(ProbeRow.at).desc()).limit(limit)
    if lineup:
        query = query.where(col(ProbeRow.lineup) == lineup)
    if engine:
        query = query.where(col(ProbeRow.engine) == engine)
    return [_from_row(row) for row in session.exec(query)]


def find_comparable(
    history: Sequence[ProbeResult], engine: str, replica: int
) -> tuple[ProbeResult | None, ProbeResult | None]:
    """Return a replica's newest result, and the newest earlier one that is complete."""
    mine = [one for one in history if (one.engine, one.replica) == (engine, replica)]
    earlier = (one for one in mine[1:] if not one.problem and one.simulated == mine[0].simulated)
    return (mine[0] if mine else None), next(earlier, None)


def _from_row(row: ProbeRow) -> ProbeResult:
    return ProbeResult(
        id=row.id,
        at=row.at,
        lineup=row.lineup,
        engine=row.engine,
        replica=row.replica,
        simulated=row.simulated,
        gpus=msgspec.json.decode(row.gpus, type=tuple[str, ...]),
        conditions=msgspec.json.decode(row.conditions, type=dict[str, str]),
        figures=msgspec.json.decode(row.figures, type=tuple[Measured, ...]),
        problem=row.problem,
        notes=msgspec.json.decode(row.notes, type=tuple[str, ...]),
    )


def _to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
