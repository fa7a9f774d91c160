"""Shrinks ended runs to their evidence: finds due runs, stores packs and deletes turn deltas."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Engine, delete, update
from sqlmodel import Session, col, select

from app.events.kinds import TurnFinished, TurnStarted
from app.store.events import EventStore
from app.store.models import EventRow, EvidenceRow, RunRow
from app.store.run_queries import UNENDED

_EDGES = ("turn.started", "turn.finished", "turn.interrupted")


def list_runs_to_shrink(session: Session, before: float) -> Sequence[RunRow]:
    """Return unshrunk runs that ended before then, oldest first."""
    query = select(RunRow).where(
        col(RunRow.ended_at) < before, col(RunRow.state).not_in(UNENDED), col(RunRow.shrunk_at).is_(None)
    )
    return session.exec(query.order_by(col(RunRow.ended_at))).all()


def list_shrunk_runs_with_deltas(session: Session) -> Sequence[str]:
    """Return shrunk runs whose turn deltas are not all deleted."""
    return session.exec(select(EvidenceRow.run).where(col(EvidenceRow.swept).is_(False))).all()


def mark_shrunk_and_store_pack(session: Session, run: str, pack: bytes, now: float) -> bool:
    """Mark the run as shrunk and store its pack. Return False if another process did, or the run has not ended."""
    whole = (col(RunRow.id) == run, col(RunRow.shrunk_at).is_(None), col(RunRow.state).not_in(UNENDED))
    marked = session.connection().execute(update(RunRow).where(*whole).values(shrunk_at=now)).rowcount == 1
    if marked:
        session.add(EvidenceRow(run=run, pack=pack))
    return marked


def read_evidence_pack(session: Session, run: str) -> bytes | None:
    """Return the stored pack, or None if the run is not shrunk."""
    return session.exec(select(EvidenceRow.pack).where(col(EvidenceRow.run) == run)).first()


def delete_finished_turn_deltas(database: Engine, run: str) -> int:
    """Delete the deltas of finished turns and return their number. Each turn is a transaction; safe to repeat."""
    gone = 0
    for first, last in _find_finished_turn_seq_ranges(EventStore(database), run):
        pieces = delete(EventRow).where(
            col(EventRow.run) == run, col(EventRow.kind) == "turn.delta", col(EventRow.seq).between(first, last)
        )
        with database.begin() as connection:
            gone += connection.execute(pieces).rowcount
    with database.begin() as connection:
        connection.execute(update(EvidenceRow).where(col(EvidenceRow.run) == run).values(swept=True))
    return gone


def _find_finished_turn_seq_ranges(store: EventStore, run: str) -> Iterator[tuple[int, int]]:
    """Yield (first, last) seq of finished turns. Only the deltas have the text of interrupted turns, so those stay."""
    begun: tuple[int, str] | None = None
    for recorded in store.read_events(run, kinds=_EDGES):
        event = recorded.event
        if isinstance(event, TurnStarted):
            begun = recorded.seq, event.turn
        elif isinstance(event, TurnFinished) and begun and begun[1] == event.turn:
            yield begun[0], recorded.seq
