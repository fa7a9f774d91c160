"""`temper probe`: the engines of a line-up, measured on the machine they run on, and set beside what was expected."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import msgspec
from rich.console import Console
from sqlalchemy import Engine as Database
from sqlmodel import Session

from app.cli.probe_table import show
from app.config import Settings
from app.engines.client import EngineClient
from app.engines.simulated import simulated
from app.errors import TemperError, Unusable
from app.lineup import Engine, Lineup
from app.lineup_file import find_lineup, read_lineup
from app.probing.kept import comparable, keep, newest
from app.probing.planned import planned
from app.probing.probe import Subject, probe
from app.probing.side_by_side import SideBySide, side_by_side
from app.probing.subjects import chosen, subjects
from app.sampling.opened import gpu_source
from app.store.db import open_database

FINE, COULD_NOT = 0, 1
LOAD_SECONDS, LOOK_EVERY = 60.0, 0.1

Bases = Mapping[str, tuple[str, ...]]


async def probe_lineup(settings: Settings, engine: str, *, as_json: bool) -> int:
    lineup = read_lineup(find_lineup(settings.lineup))
    engines = chosen(lineup, engine)
    database = open_database(settings.database)
    found: list[SideBySide] = []
    async with AsyncExitStack() as stack:
        stack.callback(database.dispose)
        http = await stack.enter_async_context(httpx.AsyncClient())
        bases = await stack.enter_async_context(_answering(settings, lineup, engines, http))
        cards = gpu_source(lineup, bases, http)
        stack.push_async_callback(cards.close)
        asked = subjects(lineup, engines, bases, http, cards, settings.speed)
        for subject in asked:
            if one := await _probed(subject, lineup, database):
                found.append(one)
                if not as_json:
                    show(one, Console())
    if as_json:
        sys.stdout.write(msgspec.json.encode({"lineup": lineup.name, "probes": found}).decode() + "\n")
    return FINE if len(found) == len(asked) and not any(one.now and one.now.problem for one in found) else COULD_NOT


async def _probed(subject: Subject, lineup: Lineup, database: Database) -> SideBySide | None:
    """None where it could not be probed; the sentence that says why is on the terminal by then."""
    with Console(stderr=True).status(subject.title) as status:
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


@asynccontextmanager
async def _answering(
    settings: Settings, lineup: Lineup, engines: Sequence[Engine], http: httpx.AsyncClient
) -> AsyncIterator[Bases]:
    """The base URLs: of engines that run already, and of the simulator, started for as long as it takes."""
    bases: dict[str, tuple[str, ...]] = {engine.name: engine.addresses for engine in engines if not engine.simulation}
    played = [name for name, engine in lineup.engines.items() if engine.simulation]
    if not played:
        yield bases
        return
    path, log = find_lineup(settings.lineup), settings.data / "probe-simulator.log"
    async with simulated(path, played, settings.speed, log) as simulator:
        bases |= simulator.bases
        await asyncio.gather(*(_ready(http, engine, bases[engine.name][0]) for engine in engines if engine.simulation))
        yield bases


async def _ready(http: httpx.AsyncClient, engine: Engine, base: str) -> None:
    client = EngineClient(http, base)
    try:
        async with asyncio.timeout(LOAD_SECONDS):
            while not await client.ready(engine.model):  # noqa: ASYNC110  another process gets ready
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError as exc:
        raise Unusable(f"{engine.name} was not ready in {LOAD_SECONDS:.0f} s: try a higher --speed.") from exc
