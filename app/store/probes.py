"""Engine probes. They are never deleted."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from app.store.models import ProbeRow


def add_probe(session: Session, row: ProbeRow) -> None:
    session.add(row)


def find_probe(session: Session, probe_id: str) -> ProbeRow | None:
    return session.get(ProbeRow, probe_id)


def list_newest_probes(session: Session, lineup: str, engine: str, limit: int) -> Sequence[ProbeRow]:
    query = select(ProbeRow).order_by(col(ProbeRow.at).desc()).limit(limit)
    if lineup:
        query = query.where(col(ProbeRow.lineup) == lineup)
    return session.exec(query.where(col(ProbeRow.engine) == engine) if engine else query).all()
