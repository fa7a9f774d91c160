"""How the log lands: one transaction per batch, with the tables that are read off it. What passes is sat out."""

import logging
import time
from collections.abc import Sequence

from sqlalchemy import Engine, func, insert, select
from sqlalchemy.exc import InternalError, OperationalError
from sqlmodel import Session, col

from app.events.record import MACHINE, Recorded
from app.store.db import shared
from app.store.leases import Leases
from app.store.models import EventRow, SampleRow
from app.store.projection import project

log = logging.getLogger(__name__)

CHANNEL = "temper_events"
"""Where a shared database says who has more: `RUN SEQ`."""
PATIENCE, BETWEEN = 30.0, 0.5
"""Seconds: for how long a full disk, a lock or a database that is away may last before the log counts as lost."""
_PASSING = (OperationalError, InternalError)


def append(engine: Engine, leases: Leases | None, batch: Sequence[Recorded]) -> frozenset[str]:
    """Whether what was on its way arrived is looked up before it is sent again."""
    until, told = time.monotonic() + PATIENCE, False
    while True:
        try:
            return _append(engine, leases, batch)
        except _PASSING as exc:
            if time.monotonic() > until:
                raise
            if not told:
                log.warning("the log waits to be written: %s", str(exc.orig).strip().partition("\n")[0])
            told = True
        batch = _unwritten(engine, batch, until)


def head(engine: Engine, run: str) -> int:
    if run == MACHINE:
        newest = select(func.max(SampleRow.seq))
    else:
        newest = select(func.max(EventRow.seq)).where(col(EventRow.run) == run)
    with engine.connect() as connection:
        return connection.execute(newest).scalar() or 0


def _append(engine: Engine, leases: Leases | None, batch: Sequence[Recorded]) -> frozenset[str]:
    with Session(engine) as session, session.begin():
        lost = leases.lost(session, {recorded.run for recorded in batch}) if leases else frozenset()
        kept = [recorded for recorded in batch if recorded.run not in lost]
        _write(session, kept)
        if shared(engine):
            for run, seq in {recorded.run: recorded.seq for recorded in kept}.items():
                session.execute(select(func.pg_notify(CHANNEL, f"{run} {seq}")))
    return lost


def _unwritten(engine: Engine, batch: Sequence[Recorded], until: float) -> list[Recorded]:
    while True:
        time.sleep(BETWEEN)
        try:
            there = {run: head(engine, run) for run in {recorded.run for recorded in batch}}
        except _PASSING:
            if time.monotonic() > until:
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


def _row(recorded: Recorded) -> dict[str, object]:
    return {
        "run": recorded.run,
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": type(recorded.event).__struct_config__.tag,
        "line": recorded.line,
        "hash": recorded.hash,
    }
