"""Where the log lands: one transaction per batch, with the tables that are read off it."""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Engine, Row, Select, delete, func, insert, select
from sqlalchemy.exc import InternalError, OperationalError
from sqlmodel import Session, col

from app.events.kinds import KINDS
from app.events.record import MACHINE, Recorded, read
from app.store.db import shared
from app.store.leases import Leases
from app.store.models import EventRow, RunRow, SampleRow
from app.store.projection import project

STEADY = tuple(kind for kind in KINDS if kind != "turn.delta")
FOR_GOOD = ("energy.sample",)
CHANNEL = "temper_events"
"""Where a shared database says who has more: `RUN SEQ`."""
PATIENCE, BETWEEN = 30.0, 0.5
"""Seconds: for how long a shared database may be away before the log counts as lost."""


class Span(NamedTuple):
    """When a run was on."""

    run: str
    lineup: str
    started_at: float
    ended_at: float | None


_SPANS = (
    select(col(RunRow.id), col(RunRow.lineup), col(RunRow.started_at), col(RunRow.ended_at))
    .where(col(RunRow.started_at).is_not(None))
    .order_by(col(RunRow.started_at))
)


class EventStore:
    def __init__(self, engine: Engine, leases: Leases | None = None) -> None:
        self._engine = engine
        self._leases = leases

    def append(self, batch: Sequence[Recorded]) -> frozenset[str]:
        """A database at an address may be restarted: what was on its way is looked up before it is sent again."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._append(batch)
            except (OperationalError, InternalError):
                if not shared(self._engine) or time.monotonic() > until:
                    raise
            time.sleep(BETWEEN)
            batch = self._unwritten(batch, until)

    def _append(self, batch: Sequence[Recorded]) -> frozenset[str]:
        with Session(self._engine) as session, session.begin():
            lost = self._leases.lost(session, {recorded.run for recorded in batch}) if self._leases else frozenset()
            kept = [recorded for recorded in batch if recorded.run not in lost]
            _write(session, kept)
            if shared(self._engine):
                newest = {recorded.run: recorded.seq for recorded in kept}
                for run, seq in newest.items():
                    session.execute(select(func.pg_notify(CHANNEL, f"{run} {seq}")))
        return lost

    def _unwritten(self, batch: Sequence[Recorded], until: float) -> list[Recorded]:
        while True:
            try:
                return [recorded for recorded in batch if recorded.seq > self.head(recorded.run)]
            except (OperationalError, InternalError):
                if time.monotonic() > until:
                    raise
            time.sleep(BETWEEN)

    def head(self, run: str) -> int:
        if run == MACHINE:
            return self.last_sample()
        newest = self.last(run)
        return newest[0] if newest else 0

    def last(self, run: str) -> tuple[int, str] | None:
        """Seq and hash that the next event follows."""
        newest = select(col(EventRow.seq), col(EventRow.hash)).where(col(EventRow.run) == run)
        with self._engine.connect() as connection:
            row = connection.execute(newest.order_by(col(EventRow.seq).desc()).limit(1)).first()
        return (row.seq, row.hash) if row else None

    def lines(
        self,
        run: str,
        after: int = 0,
        upto: int | None = None,
        kinds: Sequence[str] = (),
        limit: int | None = None,
        since: float = 0.0,
    ) -> list[tuple[int, bytes, str]]:
        """(seq, line, hash) in order, after the seq `after` and not before the time `since`."""
        query = select(col(EventRow.seq), col(EventRow.line), col(EventRow.hash)).where(col(EventRow.run) == run)
        if kinds:
            first = None if since else limit
            query = query.where(col(EventRow.seq).in_(_seqs(run, kinds, after, upto).limit(first)))
        else:
            query = query.where(*_between(after, upto))
        if since:
            query = query.where(col(EventRow.at) >= since)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(col(EventRow.seq)).limit(limit))
            return [(row.seq, row.line, row.hash) for row in rows]

    def events(
        self, run: str, after: int = 0, upto: int | None = None, kinds: Sequence[str] = (), since: float = 0.0
    ) -> Iterator[Recorded]:
        for _, line, digest in self.lines(run, after, upto, kinds, since=since):
            yield read(line, digest)

    def steady(self, run: str, upto: int | None = None, after: int = 0) -> Iterator[Recorded]:
        """All but the pieces of turns: a finished turn carries its whole text."""
        return self.events(run, after=after, upto=upto, kinds=STEADY)

    def newest(self, run: str, upto: int | None, kinds: Sequence[str], limit: int) -> list[Recorded]:
        """The last ones of these kinds, newest first."""
        last = _seqs(run, kinds, 0, upto, backwards=True).limit(limit)
        query = select(col(EventRow.line), col(EventRow.hash)).where(
            col(EventRow.run) == run, col(EventRow.seq).in_(last)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(col(EventRow.seq).desc()))
            return [read(row.line, row.hash) for row in rows]

    def queued(self) -> list[tuple[str, str]]:
        """(run, host) of the runs that nobody has begun."""
        query = select(col(RunRow.id), col(RunRow.host)).where(col(RunRow.state) == "queued")
        with self._engine.connect() as connection:
            return [(row.id, row.host) for row in connection.execute(query.order_by(col(RunRow.queued_at)))]

    def spans(self, since: float, until: float) -> list[Span]:
        """The runs that were on at some time in between."""
        over = col(RunRow.ended_at).is_(None) | (col(RunRow.ended_at) >= since)
        with self._engine.connect() as connection:
            return [_span(row) for row in connection.execute(_SPANS.where(col(RunRow.started_at) <= until, over))]

    def span(self, run: str) -> Span | None:
        """None where it is not there or has not started."""
        with self._engine.connect() as connection:
            row = connection.execute(_SPANS.where(col(RunRow.id) == run)).first()
        return _span(row) if row else None

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
        """All but the newest, whose seq the next one follows, and the few that sum others up."""
        old = delete(SampleRow).where(
            col(SampleRow.at) < before, col(SampleRow.seq) < self.last_sample(), col(SampleRow.kind).not_in(FOR_GOOD)
        )
        with self._engine.begin() as connection:
            connection.execute(old)

    def samples(self, since: float, until: float, kinds: Sequence[str] = ()) -> list[Recorded]:
        query = select(col(SampleRow.line)).where(col(SampleRow.at) >= since, col(SampleRow.at) <= until)
        if kinds:
            query = query.where(col(SampleRow.kind).in_(kinds))
        with self._engine.connect() as connection:
            return [read(row.line, "") for row in connection.execute(query.order_by(col(SampleRow.seq)))]


def _write(session: Session, batch: Sequence[Recorded]) -> None:
    events = [_row(recorded) for recorded in batch if recorded.run != MACHINE]
    samples = [_row(recorded) for recorded in batch if recorded.run == MACHINE]
    if events:
        session.execute(insert(EventRow), events)
    if samples:
        rows = [{name: row[name] for name in ("seq", "at", "kind", "line")} for row in samples]
        session.execute(insert(SampleRow), rows)
    project(session, batch)


def _seqs(run: str, kinds: Sequence[str], after: int, upto: int | None, *, backwards: bool = False) -> Select[int]:
    """Looked up in the index alone: a million pieces of turns lie between the few lines that are wanted."""
    wanted = col(EventRow.run) == run, col(EventRow.kind).in_(kinds), *_between(after, upto)
    # Reckoned with, no index gives the order: SQLite would walk through every piece of a turn for it.
    order = col(EventRow.seq) if "turn.delta" in kinds else col(EventRow.seq) + 0
    return select(col(EventRow.seq)).where(*wanted).order_by(order.desc() if backwards else order.asc())


def _between(after: int, upto: int | None) -> list[ColumnElement[bool]]:
    later = [col(EventRow.seq) > after]
    return later if upto is None else [*later, col(EventRow.seq) <= upto]


def _span(row: Row[str, str, float | None, float | None]) -> Span:
    return Span(row.id, row.lineup, row.started_at, row.ended_at)


def _row(recorded: Recorded) -> dict[str, object]:
    return {
        "run": recorded.run,
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": type(recorded.event).__struct_config__.tag,
        "line": recorded.line,
        "hash": recorded.hash,
    }
