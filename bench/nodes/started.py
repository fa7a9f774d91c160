"""Nodes of their own processes on one PostgreSQL, with simulated engines and as many built-in hosts as are wanted."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from processes import family, pss

ROOT = Path(__file__).parent.parent.parent
NODE = """import re, sys
from app.targets import host_registry
host_registry._FIXTURES = re.compile(r"fixture(-[2-9]|-[1-9][0-9]{1,3})?")
from app.__main__ import main
sys.argv = ["temper", *sys.argv[1:]]
main()
"""


@dataclass
class Nodes:
    folder: Path
    """Its `data` is shared: built-in hosts lie there."""
    database: str
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def serve(self) -> str:
        """Where it is to be found."""
        one = self._start("serve", "--port", "0")
        assert one.stdout
        url = next(line for line in one.stdout if "http://" in line).split()[-1]
        threading.Thread(target=one.stdout.read, daemon=True).start()
        return url

    def work(self) -> None:
        one = self._start("worker")
        assert one.stdout
        one.stdout.readline()

    @property
    def pids(self) -> list[int]:
        """Of those that live, in the order in which they were started."""
        return [one.pid for one in self.started if one.poll() is None]

    def _start(self, *words: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(ROOT), *sys.path])
        environment = {**os.environ, "TEMPER_DATABASE_URL": self.database, "PYTHONPATH": path}
        line = [sys.executable, "-c", NODE, *words, "--data", str(self.folder / "data"), "--speed", "0"]
        with self._log(len(self.started)).open("w") as errors:
            one = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=ROOT)
        self.started.append(one)
        return one

    def _log(self, number: int) -> Path:
        return self.folder / f"node-{number + 1}.log"

    def end(self) -> None:
        for one in self.started:
            one.terminate()
        for number, one in enumerate(self.started):
            with suppress(subprocess.TimeoutExpired):
                one.wait(timeout=60)
            one.kill()
            if said := self._log(number).read_text().strip():
                print(f"node {number + 1}: {said[-600:]}", file=sys.stderr)


@contextmanager
def nodes(folder: Path, database: str) -> Iterator[Nodes]:
    made = Nodes(folder, database)
    try:
        yield made
    finally:
        made.end()


def mib(pid: int) -> float:
    return sum(map(pss, family(pid))) / 1024


def spent(pid: int) -> float:
    """Seconds of processor time, of its children too."""
    told = 0
    for one in family(pid):
        with suppress(OSError):
            told += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return told / os.sysconf("SC_CLK_TCK")
