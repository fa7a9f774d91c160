"""Store and read probe results."""

from collections.abc import Sequence

import msgspec
from sqlmodel import Session

from app.machine.measuring.figure import Measured
from app.machine.measuring.probed import Probed
from app.store import probes
from app.store.models import ProbeRow


def keep(session: Session, probed: Probed) -> None:
    row = ProbeRow(
        id=probed.id,
        at=probed.at,
        lineup=probed.lineup,
        engine=probed.engine,
        replica=probed.replica,
        simulated=probed.simulated,
        gpus=_text(probed.gpus),
        conditions=_text(probed.conditions),
        figures=_text(probed.figures),
        problem=probed.problem,
        notes=_text(probed.notes),
    )
    probes.add(session, row)


def newest(session: Session, lineup: str, engine: str = "", *, limit: int = 20) -> list[Probed]:
    """Return probe results, newest first."""
    return [_read(row) for row in probes.newest(session, lineup, engine, limit)]


def comparable(history: Sequence[Probed], engine: str, replica: int) -> tuple[Probed | None, Probed | None]:
    """Return a replica's newest result, and the newest earlier one that is complete."""
    mine = [one for one in history if (one.engine, one.replica) == (engine, replica)]
    earlier = (one for one in mine[1:] if not one.problem and one.simulated == mine[0].simulated)
    return (mine[0] if mine else None), next(earlier, None)


def _read(row: ProbeRow) -> Probed:
    return Probed(
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


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
