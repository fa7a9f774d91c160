"""A run as long as a night and a day: does anything grow that a viewer, or the machine, would notice?

    python bench/long_run.py [--events 1000000] [--hours 19] [--rounds 9] [--write]

A simulated run of thirty rules is played first. Its log is then lived through again and again in one run, under new
turns: the first time token by token as it was, afterwards with thoughts so long that all rounds together make EVENTS
events over HOURS of the run's own time. They take the way that a run's events take: RunLog, LogWriter, EventStore;
beside them the fold of the run, and one who watches it live. A server on the same data folder is asked for pages at
1, 10, 50 and 100 % of the way, a turn open at each; times are medians, and the last column sets 100 % against 1 %.
At the end the run is over, and is shrunk to its evidence. --write puts the tables into docs/measurements/.
"""

import argparse
import asyncio
import os
import platform
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Self

import httpx
from long_log import Parts, parts, played, steps

import app.web.routes  # noqa: F401  pages link by its names
from app.events.bus import Bus
from app.events.kinds import TurnDelta
from app.events.log_writer import LogWriter, RunLog
from app.lineups.reader import read_lineup, require_lineup_path
from app.loop.state import RunState, fold_events
from app.skills.catalog import load_skill
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.stream.stream_registry import StreamRegistry
from app.web.stream.viewer_connection import Viewer

ROOT = Path(__file__).parent.parent
RUN = "longrun1"
MARKS = (0.01, 0.1, 0.5, 1.0)
INTO = 100
"""Pieces into a turn at which a mark is measured."""
BATCH = 200
LAG = 20_000
"""Events that the one who watches may be behind."""
PAGES = ("page_count", "freelist_count", "page_size")


@dataclass
class Mark:
    share: float
    events: int
    writer_mib: float
    server_mib: float
    bytes_per_event: float
    seconds: dict[str, float] = field(default_factory=dict)


# --- writing it ------------------------------------------------------------------------------------------------------


class Watched:
    """One who watches the run live, in the process that writes it."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        scene = Scene(read_lineup(require_lineup_path("simulated")), load_skill("stig"), "live")
        self._fanout = StreamRegistry(bus, store).create_fanout(RUN, PageRenderer(RUN, MissionLoader(store), scene))
        self._viewer = Viewer(self._take)
        self.bytes = 0

    async def __aenter__(self) -> Self:
        self._fanout.start()
        self._task = asyncio.create_task(self._fanout.serve_viewer(self._viewer, None))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._fanout.close()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _take(self, message: dict[str, object]) -> None:
        self.bytes += len(message["body"])

    async def near(self, seq: int) -> None:
        while seq - self._viewer.after > LAG:  # noqa: ASYNC110  the fan-out says to nobody how far it is
            await asyncio.sleep(0.01)


@dataclass
class Clock:
    """The run's own time, as far as its events have come."""

    now: float
    step: float

    def __call__(self) -> float:
        self.now += self.step
        return self.now


async def write(asked: argparse.Namespace, folder: Path, cut: Parts, base: str, server: int) -> tuple[list[Mark], str]:
    database = open_and_migrate_database(folder / "temper.sqlite")
    store, bus = EventStore(database), Bus()
    writer, marks = LogWriter(store, bus), []
    writer.start()
    clock = Clock(time.time() - 36 * 3600 - asked.hours * 3600, asked.hours * 3600 / asked.events)
    log, state, due, into = RunLog(RUN, writer, clock=clock), RunState(), list(MARKS), 0
    spent = 0.0
    async with Watched(bus, store) as watched:
        for event in chain(steps(cut, asked.events, asked.rounds), cut.after):
            began = time.perf_counter()
            into = into + 1 if isinstance(event, TurnDelta) else 0
            state = fold_events(log.append(event), state)
            if state.seq % BATCH == 0:
                await log.flush()
                await watched.near(state.seq)
            spent += time.perf_counter() - began
            if due and into == INTO and state.seq >= due[0] * asked.events * 0.998:
                await log.flush()
                marks.append(await asyncio.to_thread(measured, due.pop(0), state.seq, folder, base, server, asked))
                print(row(marks[-1]), flush=True)
        await log.flush()
    await writer.close()
    database.dispose()
    sent = f"{watched.bytes / 2**20:.0f} MiB"
    return marks, f"{state.seq:,} events in all, {state.seq / spent:,.0f} a second; one who watched was sent {sent}."


# --- measuring -------------------------------------------------------------------------------------------------------


def measured(share: float, seq: int, folder: Path, base: str, server: int, asked: argparse.Namespace) -> Mark:
    pages = {
        "/": "/",
        "/runs/RUN": f"/runs/{RUN}",
        "/runs/RUN?at=MID": f"/runs/{RUN}?at={seq // 2}",
        "/runs": "/runs",
        "/ops": "/ops",
        "GET /api/v1/runs/RUN": f"/api/v1/runs/{RUN}",
        "GET /api/v1/runs/RUN/items": f"/api/v1/runs/{RUN}/items",
    }
    mark = Mark(share, seq, 0.0, 0.0, size(folder) / seq)
    streams = {
        "first frame of the page's stream": f"/runs/{RUN}/page?since={seq - 20}",
        "first frame of the API's stream": f"/api/v1/runs/{RUN}/stream?since={seq - 20}",
    }
    with httpx.Client(base_url=base, timeout=120) as http:
        asks = {name: partial(page, http, path) for name, path in pages.items()}
        asks |= {name: partial(first_frame, http, path) for name, path in streams.items()}
        mark.seconds = medians(asked.times, asks)
    mark.writer_mib, mark.server_mib = resident(os.getpid()), resident(server)
    return mark


def medians(times: int, asks: dict[str, Callable[[], None]]) -> dict[str, float]:
    """In turn, so that a noisy second falls on all of them alike; the first time is not counted."""
    took: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(times + 1):
        for name, ask in asks.items():
            began = time.perf_counter()
            ask()
            took[name].append(time.perf_counter() - began)
    return {name: statistics.median(seconds[1:]) for name, seconds in took.items()}


def page(http: httpx.Client, path: str) -> None:
    http.get(path).raise_for_status()


def first_frame(http: httpx.Client, path: str) -> None:
    with http.stream("GET", path) as answer:
        got = b""
        for chunk in answer.iter_raw():
            got += chunk
            if b"\ndata: " in got:
                return
    sys.exit(f"{path} ended without a frame: {got[:200]!r}")


def resident(pid: int) -> float:
    said = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", said)[1]) / 1024


def size(folder: Path) -> int:
    """The database and what is not yet folded back into it."""
    return sum(path.stat().st_size for path in folder.glob("temper.sqlite*") if not path.name.endswith("-shm"))


def shrunk(folder: Path) -> str:
    """The run over, `temper tidy` shrinks it, and `temper verify` goes through its evidence."""
    before, took = used(folder), {}
    for words in (["tidy", "--older-than", "0"], ["verify", RUN]):
        began = time.perf_counter()
        done = [sys.executable, "-m", "app", *words, "--data", str(folder)]
        subprocess.run(done, check=True, stdout=subprocess.DEVNULL)
        took[words[0]] = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    with sqlite3.connect(folder / "temper.sqlite") as database:
        ((pack,),) = database.execute("select length(pack) from evidence")
    database.close()
    return (
        f"Shrunk to its evidence in {took['tidy']:.0f} s, verified in {took['verify']:.0f} s, {peak:.1f} GiB at most:"
        f" the database's {before / 2**20:.0f} MiB become {used(folder) / 2**20:.0f},"
        f" of which the pack is {pack / 2**20:.0f}."
    )


def used(folder: Path) -> int:
    """Without the pages that are free to be written again."""
    with sqlite3.connect(folder / "temper.sqlite") as database:
        pages, free, size = (database.execute(f"pragma {of}").fetchone()[0] for of in PAGES)
    database.close()
    return (pages - free) * size


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "app", "serve", "--data", str(folder), "--port", "0", "--speed", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().rsplit(" ", 1)[1].strip(), server.pid
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


# --- telling ---------------------------------------------------------------------------------------------------------


def row(mark: Mark) -> str:
    pages = ", ".join(f"{name} {1000 * took:.0f} ms" for name, took in mark.seconds.items())
    memory = f"writer {mark.writer_mib:.0f} MiB, server {mark.server_mib:.0f} MiB"
    return f"{mark.share:4.0%} {mark.events:9,} events: {memory}, {mark.bytes_per_event:.0f} bytes an event; {pages}"


def table(marks: list[Mark]) -> Iterator[str]:
    shares = [f"{mark.share:.0%}" for mark in marks]
    yield f"| | {' | '.join(shares)} | {shares[-1]} ÷ {shares[0]} |"
    yield "|---" * (len(marks) + 2) + "|"
    yield line("events", [mark.events for mark in marks], ",.0f", ratio=False)
    yield line("writing process, MiB", [mark.writer_mib for mark in marks], ".0f")
    yield line("server, MiB", [mark.server_mib for mark in marks], ".0f")
    yield line("database, bytes an event", [mark.bytes_per_event for mark in marks], ".0f")
    for name in marks[0].seconds:
        yield line(f"{name}, ms", [1000 * mark.seconds[name] for mark in marks], ".1f")


def line(name: str, figures: list[float], form: str, *, ratio: bool = True) -> str:
    said = " | ".join(format(one, form) for one in figures)
    return f"| {name} | {said} | {f'{figures[-1] / figures[0]:.2f}' if ratio else ''} |"


def write_down(lines: list[str], asked: argparse.Namespace) -> None:
    today = datetime.now(UTC).date().isoformat()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("sqlalchemy", "msgspec", "fastapi", "uvicorn"))
    head = [
        "# A run of a million events",
        "",
        (
            f"{today} · {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, shared"
            f" · Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}"
        ),
        "",
        (
            f"{asked.events:,} events over {asked.hours:g} hours of the run's own time, written at full speed by one"
            f" process while another serves them; medians of {asked.times}; `python bench/long_run.py --write`."
        ),
        "",
    ]
    (ROOT / "docs" / "measurements" / "long_run.md").write_text("\n".join([*head, *lines, ""]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--hours", type=float, default=19.0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        cut = parts(played(Path(place) / "played"))
        folder = Path(place) / "data"
        with serving(folder) as (base, server):
            marks, told = asyncio.run(write(asked, folder, cut, base, server))
        lines = [*table(marks), "", told, "", shrunk(folder)]
    print("\n".join(lines))
    if asked.write:
        write_down(lines, asked)


if __name__ == "__main__":
    main()
