"""Makes tests/data/older: data folders as earlier versions of Temper left them, each with its own code.

    python -m tests.upgrade [NAME...]

In each: a run that ended by itself, one in which a person answered, and one that was killed with -9 in its middle.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.unpacking import unpack_whole

ROOT = Path(__file__).parents[2]
OLDER = ROOT / "tests" / "data" / "older"
RULES = "V-257984,V-257985,V-257981,V-258106,V-258229"
REVIEWED = "V-257984,V-257985"
CUT = "V-257984,V-257996"
LEFT_OUT = ("worker.lock", "simulator.log")
MOST_BYTES = 150_000


@dataclass(frozen=True)
class Version:
    commit: str
    cut_at: str
    """The kind of event upon which the last run is killed."""
    mode: str = "auto"
    also: tuple[tuple[str, ...], ...] = ()
    """Commands that this version knows, beside runs."""


ADMIN = ("admin", "create", "ada")
TOKEN = ("token", "create", "ada", "--right", "viewer", "--label", "old")
SCHEDULE = ("schedule", "add", "fixture", "--cron", "0 3 1 1 *")
VERSIONS = {
    "0001": Version("750926a", cut_at="approval.requested", mode="review"),
    "0002": Version("2f7457c", cut_at="action.applied"),
    "0005": Version("7e47387", cut_at="action.rolling_back", also=(ADMIN, TOKEN)),
    "0006": Version("f80242a", cut_at="approval.requested", mode="review", also=(ADMIN, SCHEDULE)),
    "0021": Version("8e95baca", cut_at="action.applied", also=(ADMIN, SCHEDULE)),
    "0022": Version("af2b0a6a", cut_at="action.applied", also=(ADMIN, TOKEN, SCHEDULE)),
}
"""By the migration that their database stands at."""


@dataclass(frozen=True)
class Older:
    code: Path
    data: Path

    def temper(self, *words: str) -> None:
        done = subprocess.run(self._line(*words), **self._told(), input="a password of old\n", check=False, text=True)
        assert done.returncode in (0, 2), f"{words} ended with {done.returncode}"

    def run(self, *words: str, until: str = "") -> None:
        """What it asks a person is approved; `until` an event of that kind, and then it is killed."""
        line = self._line("run", "--json", *words)
        with subprocess.Popen(line, **self._told(), stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout
            for said in child.stdout:
                event = json.loads(said)
                if event["kind"] == until:
                    os.kill(child.pid, signal.SIGKILL)
                    return
                if event["kind"] == "approval.requested":
                    self._approve(event["run"], event["approval"])
        assert not until, f"no {until} in {words}"
        assert child.returncode in (0, 2), f"{words} ended with {child.returncode}"

    def _approve(self, run: str, approval: str) -> None:
        columns = "run, verb, by, reason, approval, at"
        row = (run, "approve", "ada", "of old", approval, time.time())
        database = sqlite3.connect(self.data / "temper.sqlite", timeout=10)
        with database:
            database.execute(f"insert into command ({columns}) values (?, ?, ?, ?, ?, ?)", row)
        database.close()

    def _line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "app", *words, "--data", str(self.data)]

    def _told(self) -> dict[str, object]:
        return {"cwd": self.code, "env": {**os.environ, "PYTHONPATH": str(self.code)}}


def make(name: str) -> Path:
    version = VERSIONS[name]
    with checked_out(version.commit) as code, tempfile.TemporaryDirectory() as place:
        older = Older(code, Path(place) / "data")
        older.run("--rules", RULES, "--speed", "0")
        older.run("--rules", REVIEWED, "--mode", "review", "--speed", "0")
        for words in version.also:
            older.temper(*words)
        older.run("--rules", CUT, "--mode", version.mode, "--speed", "20", until=version.cut_at)
        return packed(older.data, OLDER / f"{name}.tar.xz")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        code = Path(place) / "code"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", code, commit], check=True)
        try:
            yield code
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", code], check=True)


def packed(data: Path, into: Path) -> Path:
    for name in LEFT_OUT:
        (data / name).unlink(missing_ok=True)
    for shared in data.glob("*-shm"):
        shared.unlink()
    into.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(into, "w:xz", preset=9) as archive:
        archive.add(data, "data")
    assert into.stat().st_size <= MOST_BYTES, f"{into} has {into.stat().st_size} bytes"
    return into


def unpacked(name: str, into: Path) -> Path:
    """A copy of the data folder."""
    shutil.rmtree(into / "data", ignore_errors=True)
    unpack_whole(OLDER / f"{name}.tar.xz", into)  # the modes of a host are what it is about
    return into / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", metavar="NAME")
    for name in parser.parse_args().name or VERSIONS:
        made = make(name)
        print(f"{made.relative_to(ROOT)}, {made.stat().st_size} bytes")


if __name__ == "__main__":
    main()
