"""Where the log lands: one transaction per batch, with the tables that are read off it."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Engine, delete, func, insert, select
from sqlmodel import Session, col

from app.events.kinds import KINDS
from app.events.record import MACHINE, Recorded, read
from app.store.models import EventRow, RunRow, SampleRow
from app.store.projection import project

STEADY = tuple(kind for kind in KINDS if kind != "turn.delta")


class EventStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def append(self, batch: Sequence[Recorded]) -> None:
        events = [_row(recorded) for recorded in batch if recorded.run != MACHINE]
        samples = [_row(recorded) for recorded in batch if recorded.run == MACHINE]
        with Session(self._engine) as session, session.begin():
            if events:
                session.execute(insert(EventRow), events)
            if samples:
                rows = [{name: row[name] for name in ("seq", "at", "kind", "line")} for row in samples]
                session.execute(insert(SampleRow), rows)
            project(session, batch)

    def last(self, run: str) -> tuple[int, str] | None:
        """Seq and hash that the next event follows."""
        newest = select(col(EventRow.seq), col(EventRow.hash)).where(col(EventRow.run) == run)
        with self._engine.connect() as connection:
            row = connection.execute(newest.order_by(col(EventRow.seq).desc()).limit(1)).first()
        return (row.seq, row.hash) if row else None

    def lines(
        self, run: str, after: int = 0, upto: int | None = None, kinds: Sequence[str] = (), limit: int | None = None
    ) -> list[tuple[int, bytes, str]]:
        """(seq, line, hash) in order, after the seq `after`."""
        query = select(col(EventRow.seq), col(EventRow.line), col(EventRow.hash)).where(
            col(EventRow.run) == run, col(EventRow.seq) > after
        )
        if upto is not None:
            query = query.where(col(EventRow.seq) <= upto)
        if kinds:
            query = query.where(col(EventRow.kind).in_(kinds))
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(col(EventRow.seq)).limit(limit))
            return [(row.seq, row.line, row.hash) for row in rows]

    def events(
        self, run: str, after: int = 0, upto: int | None = None, kinds: Sequence[str] = ()
    ) -> Iterator[Recorded]:
        for _, line, digest in self.lines(run, after, upto, kinds):
            yield read(line, digest)

    def steady(self, run: str, upto: int | None = None, after: int = 0) -> Iterator[Recorded]:
        """All but the pieces of turns: a finished turn carries its whole text."""
        return self.events(run, after=after, upto=upto, kinds=STEADY)

    def newest(self, run: str, upto: int | None, kinds: Sequence[str], limit: int) -> list[Recorded]:
        """The last ones of these kinds, newest first."""
        query = select(col(EventRow.line), col(EventRow.hash)).where(
            col(EventRow.run) == run, col(EventRow.kind).in_(kinds)
        )
        if upto is not None:
            query = query.where(col(EventRow.seq) <= upto)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(col(EventRow.seq).desc()).limit(limit))
            return [read(row.line, row.hash) for row in rows]

    def queued(self) -> list[tuple[str, str]]:
        """(run, host) of the runs that nobody has begun."""
        query = select(col(RunRow.id), col(RunRow.host)).where(col(RunRow.state) == "queued")
        with self._engine.connect() as connection:
            return [(row.id, row.host) for row in connection.execute(query.order_by(col(RunRow.queued_at)))]

    def last_sample(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(select(func.max(SampleRow.seq))).scalar() or 0

    def samples_after(self, seq: int, upto: int | None = None, limit: int | None = None) -> list[Recorded]:
        query = select(col(SampleRow.line)).where(col(SampleRow.seq) > seq)
        if upto is not None:
            query = query.where(col(SampleRow.seq) <= upto)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(col(SampleRow.seq)).limit(limit))
            return [read(row.line, "") for row in rows]

    def forget_samples(self, before: float) -> None:
        """All but the newest, whose seq the next one follows."""
        old = delete(SampleRow).where(col(SampleRow.at) < before, col(SampleRow.seq) < self.last_sample())
        with self._engine.begin() as connection:
            connection.execute(old)

    def samples(self, since: float, until: float) -> list[Recorded]:
        query = select(col(SampleRow.line)).where(col(SampleRow.at) >= since, col(SampleRow.at) <= until)
        with self._engine.connect() as connection:
            return [read(row.line, "") for row in connection.execute(query.order_by(col(SampleRow.seq)))]


def _row(recorded: Recorded) -> dict[str, object]:
    return {
        "run": recorded.run,
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": type(recorded.event).__struct_config__.tag,
        "line": recorded.line,
        "hash": recorded.hash,
    }
