"""How the log lands: one transaction per batch, with the tables that are read off it. What passes is sat out."""

import logging
from collections.abc import Sequence
from threading import Event

from sqlalchemy import Engine, Select, func, insert, select
from sqlmodel import Session, col

from app.events.record import MACHINE, Recorded
from app.store.db import AWAY, shared, why
from app.store.held import connected
from app.store.leases import Leases
from app.store.models import EventRow, SampleRow
from app.store.projection import project
from app.store.standing import stand

log = logging.getLogger(__name__)

CHANNEL = "temper_events"
"""Where a shared database says who has more: `RUN SEQ`."""
BETWEEN = 0.5
"""Seconds between two looks at a full disk, a lock, or a database that is away."""


def append(engine: Engine, leases: Leases | None, batch: Sequence[Recorded], ends: Event) -> frozenset[str]:
    """Whether what was on its way arrived is looked up before it is sent again. `ends` ends the waiting."""
    told = False
    while True:
        try:
            return _append(engine, leases, batch)
        except AWAY as exc:
            if ends.is_set():
                raise
            if not told:
                log.warning("the log waits to be written: %s", why(exc))
            told = True
        batch = _unwritten(engine, batch, ends)


def head(engine: Engine, run: str) -> int:
    with connected(engine) as connection:
        return connection.execute(_newest(run)).scalar_one()


def _append(engine: Engine, leases: Leases | None, batch: Sequence[Recorded]) -> frozenset[str]:
    with Session(engine) as session, session.begin():
        lost = (
            leases.lost(session, {recorded.run for recorded in batch}) | _cut(session, batch) if leases else frozenset()
        )
        kept = [recorded for recorded in batch if recorded.run not in lost]
        land(session, kept)
    return lost


def land(session: Session, batch: Sequence[Recorded]) -> None:
    """In the caller's transaction: the lines, the tables that are read off them, and word of it to other nodes."""
    _write(session, batch)
    if shared(session.connection()):
        for run, seq in {recorded.run: recorded.seq for recorded in batch}.items():
            session.execute(select(func.pg_notify(CHANNEL, f"{run} {seq}")))


def _cut(session: Session, batch: Sequence[Recorded]) -> frozenset[str]:
    """Runs whose log ends before these go on: a standby took over that did not have the last of what was accepted."""
    goes_on = {recorded.run: recorded.seq for recorded in reversed(batch) if recorded.run != MACHINE}
    return frozenset(run for run, seq in goes_on.items() if session.execute(_newest(run)).scalar_one() < seq - 1)


def _newest(run: str) -> Select[int]:
    if run == MACHINE:
        return select(func.coalesce(func.max(SampleRow.seq), 0))
    return select(func.coalesce(func.max(EventRow.seq), 0)).where(col(EventRow.run) == run)


def _unwritten(engine: Engine, batch: Sequence[Recorded], ends: Event) -> list[Recorded]:
    while True:
        ends.wait(BETWEEN)
        try:
            there = {run: head(engine, run) for run in {recorded.run for recorded in batch}}
        except AWAY:
            if ends.is_set():
                raise
        else:
            return [recorded for recorded in batch if recorded.seq > there[recorded.run]]


def _write(session: Session, batch: Sequence[Recorded]) -> None:
    events = [_row(recorded) for recorded in batch if recorded.run != MACHINE]
    samples = [_row(recorded) for recorded in batch if recorded.run == MACHINE]
    if events:
        session.execute(insert(EventRow), events)
    if samples:
        rows = [{name: row[name] for name in ("seq", "at", "kind", "line")} for row in samples]
        session.execute(insert(SampleRow), rows)
    project(session, batch)
    stand(session, batch)


def _row(recorded: Recorded) -> dict[str, object]:
    return {
        "run": recorded.run,
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": type(recorded.event).__struct_config__.tag,
        "line": recorded.line,
        "hash": recorded.hash,
    }
