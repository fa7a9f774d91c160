"""The operator beside it all, in a process of their own: how long their page takes, and what the server takes."""

import asyncio
import multiprocessing
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

PAGES = ("/", "/runs", "/ops")
EVERY = 0.25
SPAWN = multiprocessing.get_context("spawn")


@dataclass
class Seen:
    answers: list[float] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    memory: list[int] = field(default_factory=list)
    disk: tuple[int, int] = (0, 0)

    @property
    def slowest(self) -> float:
        return max(self.answers)

    @property
    def most_memory(self) -> float:
        return max(self.memory) / 2**20

    @property
    def grown(self) -> float:
        return (self.disk[1] - self.disk[0]) / 2**20


@asynccontextmanager
async def watched(base_url: str, process: int, data: Path, cookie: str) -> AsyncIterator[Seen]:
    seen, before = Seen(), size(data)
    here, there = SPAWN.Pipe()
    operator = SPAWN.Process(target=_watch, args=(base_url, process, cookie, there))
    operator.start()
    await asyncio.to_thread(here.recv)  # it has its first page
    try:
        yield seen
    finally:
        here.send("enough")
        found = await asyncio.to_thread(here.recv)
        operator.join()
    seen.answers, seen.statuses, seen.memory = found.answers, found.statuses, found.memory
    seen.disk = before, size(data)


def _watch(base_url: str, process: int, cookie: str, told: Connection) -> None:
    seen = Seen()
    headers = {"accept": "text/html", "cookie": f"temper-session={cookie}"}
    with httpx.Client(base_url=base_url, timeout=30, headers=headers) as http:
        while not told.poll(EVERY if seen.answers else 0):
            for page in PAGES:
                begun = time.monotonic()
                seen.statuses.add(http.get(page).status_code)
                seen.answers.append(time.monotonic() - begun)
                seen.memory.append(memory(process))
            if len(seen.answers) == len(PAGES):
                told.send("here")
    told.send(seen)


def memory(process: int) -> int:
    """Bytes that it holds in memory."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) * 1024 if found else 0


def size(folder: Path) -> int:
    """Of the data and of the logs beside it."""
    total = 0
    for path in (*folder.rglob("*"), folder.with_suffix(".log")):
        try:
            total += path.stat().st_blocks * 512 if path.is_file() else 0
        except OSError:
            continue
    return total
