"""Rollouts, as hash chains and rows: each line is written in the transaction that read its predecessor."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Engine, update
from sqlmodel import Field, Session, SQLModel, col, select

from app.events import kinds
from app.events.kinds import Event
from app.events.record import GENESIS, Recorded, build_recorded_event, parse_line
from app.store.database_clock import database_time
from app.store.db import lock_chain
from app.store.event_batch_writer import write_batch
from app.store.models import CommandRow, EventRow, RunRow, create_row
from app.store.run_queries import read_last_link, require_row

UNENDED = ("running", "paused", "stopping")


class RolloutRow(SQLModel, table=True):
    __tablename__ = "rollout"

    id: str = Field(primary_key=True)
    words: str
    hosts: int
    state: str = Field(index=True)
    """running, paused, stopping, finished or stopped."""
    reason: str
    mode: str
    skill: str
    simulated: bool
    note: str
    by: str
    asked_at: float = Field(index=True)
    ended_at: float | None = None


class RolloutHostRow(SQLModel, table=True):
    """A host that was started or left out. A rollout has at most one row per host."""

    __tablename__ = "rollout_host"

    rollout: str = Field(primary_key=True)
    host: str = Field(primary_key=True)
    run: str = Field(index=True)
    """Empty if the host was left out."""


@dataclass
class RolloutJournal:
    """Appends to one rollout's chain, and to the runs that it starts, in one transaction."""

    session: Session
    rollout: str
    seq: int
    """Seq of the newest line."""
    _hash: str
    written: list[Recorded] = field(default_factory=list)

    def append(self, *events: Event) -> None:
        for event in events:
            line = build_recorded_event(self.rollout, self.seq + 1, database_time(self.session), event, self._hash)
            self.seq, self._hash = line.seq, line.hash
            self.written.append(line)
            _project_event(self.session, line)

    def add_first_event_of_queued_run(self, run: str, request: kinds.RunQueued) -> None:
        self.written.append(build_recorded_event(run, 1, database_time(self.session), request, GENESIS))

    def send_command(self, runs: Sequence[str], verb: str, by: str, reason: str) -> None:
        at = database_time(self.session)
        self.session.add_all(CommandRow(run=run, verb=verb, by=by, reason=reason, at=at) for run in runs)


@contextmanager
def open_rollout_journal(database: Engine, rollout: str) -> Iterator[RolloutJournal]:
    """Open a rollout's chain for writing. Locks all rollouts; everything is committed at the end, or nothing."""
    with Session(database) as session:
        lock_chain(session, "rollouts")
        made = RolloutJournal(session, rollout, *(read_last_link(session, rollout) or (0, GENESIS)))
        yield made
        write_batch(session, made.written)
        session.commit()


def write_first_event(
    session: Session, run_or_rollout: str, request: kinds.RunQueued | kinds.RolloutOrdered
) -> list[Recorded]:
    """Write the first line of a new run or rollout, in the caller's transaction."""
    begun = RolloutJournal(session, run_or_rollout, 0, GENESIS)
    if isinstance(request, kinds.RunQueued):
        begun.add_first_event_of_queued_run(run_or_rollout, request)
    else:
        begun.append(request)
    write_batch(session, begun.written)
    return begun.written


def read_rollout_events(session: Session, rollout: str, after: int = 0) -> Iterator[Recorded]:
    query = select(EventRow).where(EventRow.run == rollout, col(EventRow.seq) > after)
    for row in session.exec(query.order_by(col(EventRow.seq))):
        yield parse_line(row.line, row.hash)


def require_rollout(session: Session, rollout: str) -> RolloutRow:
    return require_row(session, RolloutRow, "rollout", rollout)


def find_up_to_five_rollouts_by_id_prefix(session: Session, prefix: str) -> Sequence[RolloutRow]:
    found = select(RolloutRow).where(col(RolloutRow.id).startswith(prefix, autoescape=True))
    return session.exec(found.order_by(col(RolloutRow.asked_at).desc()).limit(5)).all()


def list_newest_rollouts(session: Session, limit: int, before: float | None = None) -> Sequence[RolloutRow]:
    query = select(RolloutRow).order_by(col(RolloutRow.asked_at).desc()).limit(limit)
    return session.exec(query if before is None else query.where(col(RolloutRow.asked_at) < before)).all()


def list_unended_rollouts(session: Session) -> Sequence[RolloutRow]:
    query = select(RolloutRow).where(col(RolloutRow.state).in_(UNENDED))
    return session.exec(query.order_by(col(RolloutRow.asked_at))).all()


def find_runs_by_id(session: Session, runs: Sequence[str]) -> dict[str, RunRow]:
    return {row.id: row for row in session.exec(select(RunRow).where(col(RunRow.id).in_(runs)))}


def find_commanded_runs(session: Session, runs: Sequence[str], verb: str, by: str, since: float) -> set[str]:
    """Return the runs that got this command from the rollout since then."""
    commands = select(CommandRow.run).where(
        col(CommandRow.run).in_(runs), CommandRow.verb == verb, CommandRow.by == by, col(CommandRow.at) >= since
    )
    return set(session.exec(commands))


def _project_event(session: Session, recorded: Recorded) -> None:
    rollout, event = recorded.run, recorded.event
    match event:
        case kinds.RolloutOrdered():
            begun = {"id": rollout, "hosts": len(event.hosts), "state": "running", "reason": ""}
            session.add(create_row(RolloutRow, event, **begun, asked_at=recorded.at))
        case kinds.RolloutHostBegun():
            session.add(RolloutHostRow(rollout=rollout, host=event.host, run=event.of))
        case kinds.RolloutHostLeft():
            session.add(RolloutHostRow(rollout=rollout, host=event.host, run=""))
    if values := _find_rollout_values(recorded):
        session.flush()
        session.execute(update(RolloutRow).where(col(RolloutRow.id) == rollout).values(values))


def _find_rollout_values(recorded: Recorded) -> dict[str, object]:
    match recorded.event:
        case kinds.RolloutPaused(reason=reason):
            return {"state": "paused", "reason": reason}
        case kinds.RolloutResumed():
            return {"state": "running", "reason": ""}
        case kinds.RolloutStopRequested(reason=reason):
            return {"state": "stopping", "reason": reason}
        case kinds.RolloutEnded(state=state):
            return {"state": state, "ended_at": recorded.at}
        case _:
            return {}
