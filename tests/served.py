"""A real `temper` server as a child process, on a free port of loopback, gone with the test."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.forkserver import Temper

PATIENCE = 90.0
GLANCE = 0.05
"""Between two looks: who looks all the time takes half the machine from whom it waits for."""


@dataclass
class Server:
    process: subprocess.Popen[str]
    data: Path
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def output(self) -> str:
        return self.log.read_text()

    def runs(self) -> list[str]:
        return [row[0] for row in self._rows("select id from run")]

    def last_seq(self, run: str) -> int:
        return int(self._rows("select max(seq) from event where run = ?", run)[0][0])

    def wait_for_kind(self, kind: str, patience: float = PATIENCE) -> None:
        """Until the log has an event of this kind."""
        until = time.monotonic() + patience
        while not self._rows("select 1 from event where kind = ? limit 1", kind):
            assert time.monotonic() < until, f"no {kind} in {patience} s"
            assert self.process.poll() is None, self.output()
            time.sleep(GLANCE)

    def _rows(self, query: str, *values: str) -> list[tuple[str]]:
        database = sqlite3.connect(f"file:{self.data / 'temper.sqlite'}?mode=ro", uri=True, timeout=10)
        with suppress(sqlite3.OperationalError):
            try:
                return database.execute(query, values).fetchall()
            finally:
                database.close()
        return []


@contextmanager
def served(
    data: Path, *words: str, command: str = "serve", port: int = 0, environment: dict[str, str] | None = None
) -> Iterator[Server]:
    log = data.with_suffix(".log")
    line = [command, "--data", str(data), "--port", str(port), *words]
    with log.open("a") as errors:
        process = Temper(
            *line, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **(environment or {})}
        )
    try:
        assert process.stdout
        said = process.stdout.readline()
        assert "Temper is at" in said, log.read_text()
        yield Server(process, data, int(said.rsplit(":", 1)[1]), log)
    finally:
        if process.poll() is None:
            process.end(15)
        process.stdout.close()
