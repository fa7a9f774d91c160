"""Writes batches of the log, each in one transaction with its projections. Retries while the database is away."""

import logging
from collections.abc import Sequence
from threading import Event
from typing import Any

from sqlalchemy import Engine, Select, TextClause, func, insert, select, text
from sqlmodel import Session, SQLModel, col

from app.events.record import MACHINE, Recorded
from app.store.db import DATABASE_UNAVAILABLE, is_shared, shorten_database_error
from app.store.host_rule_states import update_standings
from app.store.leases import Leases
from app.store.models import EventRow, SampleRow
from app.store.projection import project_events
from app.store.session_shared_within_request import open_read_connection

log = logging.getLogger(__name__)

CHANNEL = "temper_events"
"""The PostgreSQL channel of notifications. The payload is `RUN SEQ`."""
BETWEEN = 0.5
"""Seconds between retries while the disk is full, or the database locked or away."""


_OURS = text("""
with mine as (select name, node from lease where name = any(:runs) for share)
select asked.run, mine.node, (select coalesce(max(event.seq), 0) from event where event.run = asked.run) as head
from unnest(cast(:runs as text[])) as asked(run) left join mine on mine.name = asked.run
""")
"""For each run: its owner, locked until the transaction ends, and the newest seq of its log."""
_EVENTS = text("""
insert into event (run, seq, at, kind, line, hash) select * from unnest(
cast(:run as text[]), cast(:seq as bigint[]), cast(:at as float8[]), cast(:kind as text[]), cast(:line as bytea[]),
cast(:hash as text[]))
""")
_SAMPLES = text("""
insert into sample (seq, at, kind, line) select * from unnest(
cast(:seq as bigint[]), cast(:at as float8[]), cast(:kind as text[]), cast(:line as bytea[]))
""")
_NOTICES = text("select pg_notify(:channel, notice) from unnest(cast(:notices as text[])) as notice")


def append_batch_returning_lost_runs(
    engine: Engine, leases: Leases | None, batch: Sequence[Recorded], stop_retrying_signal: Event
) -> frozenset[str]:
    """Append a batch, retrying unless `stop_retrying_signal` is set while the database is away.

    Return the runs that this node lost.
    """
    warned = False
    while True:
        try:
            with Session(engine) as session, session.begin():
                lost = _find_lost_runs(session, leases.node, batch) if leases else frozenset()
                write_batch(session, [recorded for recorded in batch if recorded.run not in lost])
        except DATABASE_UNAVAILABLE as exc:
            if stop_retrying_signal.is_set():
                raise
            if not warned:
                log.warning("the log cannot be written: %s", shorten_database_error(exc))
            warned = True
        else:
            return lost
        batch = _wait_for_database_and_list_unwritten(engine, batch, stop_retrying_signal)


def read_newest_seq(engine: Engine, run: str) -> int:
    with open_read_connection(engine) as connection:
        return connection.execute(_select_newest_seq(run)).scalar_one()


def write_batch(session: Session, batch: Sequence[Recorded]) -> None:
    """Write the lines and projections, and notify other nodes, in the caller's transaction."""
    _insert_rows(session, EventRow, _EVENTS, [to_columns(recorded) for recorded in batch if recorded.run != MACHINE])
    samples = [to_columns(recorded) for recorded in batch if recorded.run == MACHINE]
    rows = [{name: row[name] for name in ("seq", "at", "kind", "line")} for row in samples]
    _insert_rows(session, SampleRow, _SAMPLES, rows)
    project_events(session, batch)
    update_standings(session, batch)
    if batch and is_shared(session.connection()):
        newest = {recorded.run: recorded.seq for recorded in batch}
        notices = [f"{run} {seq}" for run, seq in newest.items()]
        session.connection().execute(_NOTICES, {"channel": CHANNEL, "notices": notices})


def _find_lost_runs(session: Session, node: str, batch: Sequence[Recorded]) -> frozenset[str]:
    """Return runs that another node owns, or whose stored log does not end where the batch starts.

    It ends earlier if a standby took over that lacks the last lines, and later if this process took the run back under
    another name and has appended since.
    """
    goes_on = {recorded.run: recorded.seq for recorded in reversed(batch)}
    rows = session.connection().execute(_OURS, {"runs": [*goes_on]})
    return frozenset(
        run for run, owner, head in rows if owner not in (None, node) or (run != MACHINE and head != goes_on[run] - 1)
    )


def _select_newest_seq(run: str) -> Select[int]:
    if run == MACHINE:
        return select(func.coalesce(func.max(SampleRow.seq), 0))
    return select(func.coalesce(func.max(EventRow.seq), 0)).where(col(EventRow.run) == run)


def _wait_for_database_and_list_unwritten(
    engine: Engine, batch: Sequence[Recorded], give_up_event: Event
) -> list[Recorded]:
    while True:
        give_up_event.wait(BETWEEN)
        try:
            there = {run: read_newest_seq(engine, run) for run in {recorded.run for recorded in batch}}
        except DATABASE_UNAVAILABLE:
            if give_up_event.is_set():
                raise
        else:
            return [recorded for recorded in batch if recorded.seq > there[recorded.run]]


def _insert_rows(
    session: Session, table: type[SQLModel], postgresql_insert: TextClause, rows: Sequence[dict[str, object]]
) -> None:
    """Insert the rows, on PostgreSQL in one statement for any number: a lost connection would tear a pipeline."""
    if not rows:
        return
    connection = session.connection()
    if is_shared(connection):
        connection.execute(postgresql_insert, {name: [row[name] for row in rows] for name in rows[0]})
    else:
        connection.execute(insert(table), rows)


def to_columns(recorded: Recorded) -> dict[str, Any]:
    return {
        "run": recorded.run,
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": type(recorded.event).__struct_config__.tag,
        "line": recorded.line,
        "hash": recorded.hash,
    }
