"""`temper probe`: measure a line-up's engines and compare the results with the plan and earlier probes."""

import sys
from contextlib import AsyncExitStack

import httpx
import msgspec
from rich.console import Console
from rich.status import Status
from sqlalchemy import Engine as Database
from sqlmodel import Session

from app.cli.probe_engines import answering
from app.cli.probe_table import show
from app.config import Settings
from app.engines.key import key_of
from app.engines.traffic import EngineTraffic
from app.errors import TemperError
from app.lineups.model import Lineup
from app.lineups.reader import find_lineup, read_lineup
from app.machine.measuring.planned import planned
from app.machine.measuring.probe import ProbeSubject, probe
from app.machine.measuring.side_by_side import SideBySide, side_by_side
from app.machine.measuring.stored import comparable, keep, newest
from app.machine.measuring.subjects import chosen, subjects
from app.store.db import open_database

FINE, COULD_NOT = 0, 1


async def probe_lineup(settings: Settings, engine: str, *, as_json: bool) -> int:
    lineup = read_lineup(find_lineup(settings.lineup))
    engines = chosen(lineup, engine)
    database = open_database(settings.database)
    found: list[SideBySide] = []
    async with AsyncExitStack() as stack:
        stack.callback(database.dispose)
        http = await stack.enter_async_context(httpx.AsyncClient())
        status = stack.enter_context(Console(stderr=True).status(lineup.title))
        there = await stack.enter_async_context(answering(settings, lineup, engines, http, status.update))
        asked = subjects(
            lineup, engines, there.bases, http, there.cards, settings.speed, key_of, EngineTraffic(), there.loaded
        )
        for subject in asked:
            if one := await _probed(subject, lineup, database, status):
                found.append(one)
                if not as_json:
                    show(one, Console())
    if as_json:
        sys.stdout.write(msgspec.json.encode({"lineup": lineup.name, "probes": found}).decode() + "\n")
    return FINE if len(found) == len(asked) and not any(one.now and one.now.problem for one in found) else COULD_NOT


async def _probed(subject: ProbeSubject, lineup: Lineup, database: Database, status: Status) -> SideBySide | None:
    """Probe one replica and store the result. Print the error and return None if it fails."""
    try:
        probed = await probe(subject, status.update)
    except TemperError as exc:
        print(f"temper: {subject.title}: {exc}", file=sys.stderr)  # noqa: T201
        return None
    with Session(database) as session, session.begin():
        keep(session, probed)
        history = newest(session, lineup.name, subject.engine.name)
    now, before = comparable(history, subject.engine.name, subject.replica)
    return side_by_side(subject.engine, subject.replica, planned(lineup, subject.engine), now, before)
