"""Reads and writes the stored event log and the machine's samples."""

from collections.abc import Generator, Iterator, Sequence
from threading import Event
from typing import NamedTuple, TypeVarTuple

from sqlalchemy import ColumnElement, Engine, Row, Select, delete, func, select
from sqlmodel import col

from app.events.kinds import KINDS
from app.events.record import MACHINE, Recorded, parse_line
from app.store.db import is_shared
from app.store.event_batch_writer import append_batch_returning_lost_runs, read_newest_seq
from app.store.leases import Leases
from app.store.models import EventRow, RunRow, SampleRow
from app.store.rollouts import RolloutRow
from app.store.run_queries import UNENDED, read_last_link
from app.store.session_shared_within_request import open_read_connection, open_read_session
from app.store.thinned_sample_store import ThinnedStore

STEADY = tuple(kind for kind in KINDS if kind != "turn.delta")
FOR_GOOD = ("energy.sample", "engine.state")
AT_ONCE = 2000


_Columns = TypeVarTuple("_Columns")


class RunSpan(NamedTuple):
    run: str
    host: str
    lineup: str
    started_at: float
    ended_at: float | None


_SPANS = (
    select(col(RunRow.id), col(RunRow.host), col(RunRow.lineup), col(RunRow.started_at), col(RunRow.ended_at))
    .where(col(RunRow.started_at).is_not(None))
    .order_by(col(RunRow.started_at))
)


class EventStore:
    def __init__(self, engine: Engine, leases: Leases | None = None, writing: Engine | None = None) -> None:
        """`writing`: a separate pool for the log writer, so that readers cannot block it."""
        self._engine, self._writing = engine, writing or engine
        self._leases = leases
        self._ends = Event()
        self.thinned = ThinnedStore(engine)
        """Downsampled samples, kept longer than single ones."""

    def _fetch(self, query: Select[*_Columns]) -> Sequence[Row[*_Columns]]:
        with open_read_connection(self._engine) as connection:
            return connection.execute(query).all()

    def append(self, batch: Sequence[Recorded]) -> frozenset[str]:
        return append_batch_returning_lost_runs(self._writing, self._leases, batch, self._ends)

    def give_up(self) -> None:
        self._ends.set()

    def read_newest_seq(self, run: str) -> int:
        return read_newest_seq(self._engine, run)

    def read_last_link(self, run: str) -> tuple[int, str] | None:
        """Return seq and hash of the run's newest event, or None."""
        with open_read_session(self._engine) as session:
            return read_last_link(session, run)

    def read_lines(
        self,
        run: str,
        after: int = 0,
        upto: int | None = None,
        kinds: Sequence[str] = (),
        limit: int | None = None,
        since: float = 0.0,
    ) -> list[tuple[int, bytes, str]]:
        """Return (seq, line, hash) in order, for seqs above `after` and times from `since` on."""
        query = _select_lines(run)
        if kinds:
            first = None if since else limit
            query = query.where(col(EventRow.seq).in_(_select_seqs(run, kinds, after, upto).limit(first)))
        else:
            query = query.where(*_build_seq_conditions(after, upto))
        if since:
            query = query.where(col(EventRow.at) >= since)
        return [(row.seq, row.line, row.hash) for row in self._fetch(query.limit(limit))]

    def stream_lines(self, run: str) -> Generator[tuple[int, bytes, str]]:
        """Yield (seq, line, hash) of the whole log with bounded memory."""
        with (
            open_read_connection(self._engine) as connection,
            connection.execute(_select_lines(run), execution_options={"yield_per": AT_ONCE}) as rows,
        ):
            for row in rows:
                yield row.seq, row.line, row.hash

    def read_events(
        self, run: str, after: int = 0, upto: int | None = None, kinds: Sequence[str] = (), since: float = 0.0
    ) -> Iterator[Recorded]:
        part = bool(after or upto or kinds or since)
        rows = self.read_lines(run, after, upto, kinds, since=since) if part else self.stream_lines(run)
        for _, line, digest in rows:
            yield parse_line(line, digest)

    def get_seq_at(self, run: str, at: float) -> int:
        """Return the seq of the newest event at or before `at`. Bisects, as events have no index by time."""
        low, high = 0, (self.read_last_link(run) or (0, ""))[0]
        while low < high:
            middle = (low + high + 1) // 2
            found = self.find_time_of_newest_event_up_to_seq(run, middle)
            low, high = (middle, high) if (found or 0.0) <= at else (low, middle - 1)
        return low

    def find_time_of_newest_event_up_to_seq(self, run: str, seq: int) -> float | None:
        """Return the time of the newest event with a seq up to `seq`; a shrunk run has gaps."""
        query = select(col(EventRow.at)).where(col(EventRow.run) == run, col(EventRow.seq) <= seq)
        found = self._fetch(query.order_by(col(EventRow.seq).desc()).limit(1))
        return found[0].at if found else None

    def read_events_without_deltas(self, run: str, upto: int | None = None, after: int = 0) -> Iterator[Recorded]:
        """Yield all events except turn deltas. A finished turn holds its whole text."""
        return self.read_events(run, after=after, upto=upto, kinds=STEADY)

    def read_events_for_fold(self, run: str) -> Iterator[Recorded]:
        """Yield the events for folding a state: no turn deltas, but the newest event of any kind for its time."""
        last = 0
        for recorded in self.read_events_without_deltas(run):
            last = recorded.seq
            yield recorded
        yield from (
            newest for newest in self.read_events_of_kinds_newest_first(run, None, tuple(KINDS), 1) if newest.seq > last
        )

    def read_events_of_kinds_newest_first(
        self, run: str, upto: int | None, kinds: Sequence[str], limit: int
    ) -> list[Recorded]:
        """Return the last `limit` events of these kinds, newest first."""
        last = _select_seqs(run, kinds, 0, upto, backwards=True).limit(limit)
        rows = self._fetch(_select_lines(run).where(col(EventRow.seq).in_(last)))
        return [parse_line(row.line, row.hash) for row in reversed(rows)]

    def map_unended_chains_to_seqs(self) -> dict[str, int]:
        """Return the newest seq of each run and rollout that has not ended."""
        runs = select(col(RunRow.id)).where(col(RunRow.state).in_(UNENDED))
        rollouts = select(col(RolloutRow.id)).where(col(RolloutRow.ended_at).is_(None))
        return {row.id: self.read_newest_seq(row.id) for query in (runs, rollouts) for row in self._fetch(query)}

    def list_next_runs_to_offer(self) -> list[tuple[str, str]]:
        """Return (run, host) of each host's oldest unended run that the queue may not know.

        A run that has begun is one only in a database file, whose queue is not part of a backup: between nodes, leases
        tell who works on it.
        """
        unended = select(col(RunRow.id), col(RunRow.host), col(RunRow.state)).where(col(RunRow.state).in_(UNENDED))
        rows = self._fetch(unended.order_by(col(RunRow.queued_at), col(RunRow.id)))
        oldest = {row.host: row for row in reversed(rows)}
        alone = not is_shared(self._engine)
        return [(row.id, row.host) for row in rows if oldest[row.host] is row and (alone or row.state == "queued")]

    def list_started_unended_runs(self) -> list[str]:
        """Return the runs that have started and not ended."""
        begun = col(RunRow.started_at).is_not(None) & col(RunRow.ended_at).is_(None)
        return [row.id for row in self._fetch(select(col(RunRow.id)).where(begun))]

    def list_run_spans(self, since: float, until: float) -> list[RunSpan]:
        over = col(RunRow.ended_at).is_(None) | (col(RunRow.ended_at) >= since)
        return [RunSpan._make(row) for row in self._fetch(_SPANS.where(col(RunRow.started_at) <= until, over))]

    def find_run_span(self, run: str) -> RunSpan | None:
        """Return the run's span, or None if it is unknown or has not started."""
        return next((RunSpan._make(row) for row in self._fetch(_SPANS.where(col(RunRow.id) == run))), None)

    def read_last_sample_seq(self) -> int:
        return read_newest_seq(self._engine, MACHINE)

    def find_first_sample_time(self, since: float, kinds: Sequence[str]) -> float | None:
        first: Select[float | None] = select(func.min(SampleRow.at))
        [(at,)] = self._fetch(first.where(col(SampleRow.at) >= since, col(SampleRow.kind).in_(kinds)))
        return at

    def read_samples_after(self, seq: int, upto: int | None = None, limit: int | None = None) -> list[Recorded]:
        query = select(col(SampleRow.line)).where(col(SampleRow.seq) > seq)
        if upto is not None:
            query = query.where(col(SampleRow.seq) <= upto)
        return [parse_line(row.line, "") for row in self._fetch(query.order_by(col(SampleRow.seq)).limit(limit))]

    def delete_old_samples_not_kept_for_good(self, before: float) -> None:
        """Delete samples older than `before`, except the newest, whose seq continues."""
        old = delete(SampleRow).where(
            col(SampleRow.at) < before,
            col(SampleRow.seq) < self.read_last_sample_seq(),
            col(SampleRow.kind).not_in(FOR_GOOD),
        )
        with self._engine.begin() as connection:
            connection.execute(old)

    def read_samples(self, since: float, until: float, kinds: Sequence[str] = ()) -> list[Recorded]:
        query = select(col(SampleRow.line)).where(col(SampleRow.at) >= since, col(SampleRow.at) <= until)
        if kinds:
            query = query.where(col(SampleRow.kind).in_(kinds))
        return [parse_line(row.line, "") for row in self._fetch(query.order_by(col(SampleRow.seq)))]


def _select_lines(run: str) -> Select[int, bytes, str]:
    query = select(col(EventRow.seq), col(EventRow.line), col(EventRow.hash)).where(col(EventRow.run) == run)
    return query.order_by(col(EventRow.seq))


def _select_seqs(
    run: str, kinds: Sequence[str], after: int, upto: int | None, *, backwards: bool = False
) -> Select[int]:
    """Select seqs from the index alone: a run may have a million deltas between the wanted lines."""
    wanted = col(EventRow.run) == run, col(EventRow.kind).in_(kinds), *_build_seq_conditions(after, upto)
    # The expression keeps SQLite from using the seq index, which would walk through every delta.
    order = col(EventRow.seq) if "turn.delta" in kinds else col(EventRow.seq) + 0
    return select(col(EventRow.seq)).where(*wanted).order_by(order.desc() if backwards else order.asc())


def _build_seq_conditions(after: int, upto: int | None) -> list[ColumnElement[bool]]:
    later = [col(EventRow.seq) > after]
    return later if upto is None else [*later, col(EventRow.seq) <= upto]
