"""What goes wrong, at a moment of chance, under a server at work. Each fault passes by itself, or is a death."""

import mmap
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg

from tests.served import Server

SOURCE = Path(__file__).with_name("faults.c")
PAGE = struct.Struct("4i")


class Shim:
    """faults.c before libc in the server: its words are turned while it runs."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        assert compiler, "the faults of disk, line and clock need a C compiler: apt-get install gcc libc6-dev"
        self.library = folder / "faults.so"
        self._page = folder / "faults"
        self._page.write_bytes(bytes(mmap.PAGESIZE))
        command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-o", str(self.library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "TEMPER_CHAOS": str(self._page)}

    def turn(self, *, disk_full: int = 0, sync_delay_us: int = 0, line_cut: int = 0, clock_jump_s: int = 0) -> None:
        with self._page.open("r+b") as file, mmap.mmap(file.fileno(), 0) as page:
            page[: PAGE.size] = PAGE.pack(disk_full, sync_delay_us, line_cut, clock_jump_s)

    @contextmanager
    def turned(self, **words: int) -> Iterator[None]:
        self.turn(**words)
        try:
            yield
        finally:
            self.turn()


@dataclass(frozen=True)
class Ground:
    """Where a fault strikes."""

    server: Server
    shim: Shim
    place: Path | str
    dice: random.Random

    def last(self, least: float, most: float) -> None:
        time.sleep(self.dice.uniform(least, most))


def killed(ground: Ground) -> None:
    ground.server.process.kill()
    ground.server.process.wait()


def frozen(ground: Ground) -> None:
    _stopped(ground, ground.server.process.pid, 3)


def engines_die(ground: Ground) -> None:
    for pid in _engines(ground):
        os.kill(pid, signal.SIGKILL)
    ground.last(0, 2)
    httpx.post(f"{ground.server.url}/ops/engines", data={"verb": "start"}, timeout=60)


def engines_stall(ground: Ground) -> None:
    for pid in _engines(ground):
        _stopped(ground, pid, 4)


def disk_full(ground: Ground) -> None:
    with ground.shim.turned(disk_full=1):
        ground.last(0.1, 4)


def disk_slow(ground: Ground) -> None:
    with ground.shim.turned(sync_delay_us=ground.dice.randrange(20_000, 600_000)):
        ground.last(1, 4)


def line_cut(ground: Ground) -> None:
    with ground.shim.turned(line_cut=1):
        ground.last(0.1, 3)


def clock_jumps(ground: Ground) -> None:
    ground.shim.turn(clock_jump_s=ground.dice.choice([-86_400, -30, 30, 86_400]))
    ground.last(0.5, 3)
    ground.shim.turn()


def database_locked(ground: Ground) -> None:
    if isinstance(ground.place, Path):
        locked = sqlite3.connect(ground.place, isolation_level=None, timeout=20)
        locked.execute("begin exclusive")
        ground.last(0.1, 4)
        locked.close()
        return
    with psycopg.connect(ground.place) as connection:
        connection.execute("lock table event, run in access exclusive mode")
        ground.last(0.1, 3)


FAULTS: dict[str, Callable[[Ground], None]] = {
    "killed": killed,
    "frozen": frozen,
    "its engines die": engines_die,
    "its engines stall": engines_stall,
    "the disk is full": disk_full,
    "the disk is slow": disk_slow,
    "the line is cut": line_cut,
    "the clock jumps": clock_jumps,
    "the database is locked": database_locked,
}


def _stopped(ground: Ground, pid: int, most: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    ground.last(0.1, most)
    os.kill(pid, signal.SIGCONT)


def _engines(ground: Ground) -> list[int]:
    """The simulator's processes: children of the server."""
    parent = ground.server.process.pid
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
