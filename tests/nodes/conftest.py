"""Nodes as real processes on one PostgreSQL, with one data folder."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlmodel import Session, select

from app.cli.runtime_opening import load_lineup
from app.config import Settings
from app.events.record import GENESIS, build_recorded_event, check_chain_and_get_head, parse_line
from app.loop.state import RunState, fold_events
from app.runs.order import Order, create_run_request, split_at_commas_unless_none
from app.runtime.runtime import create_random_run_id
from app.store import nodes
from app.store.db import open_and_migrate_database, use_autocommit_if_shared
from app.store.events import EventStore
from app.store.leases import LeaseRow
from app.store.models import RunRow
from tests.crash import end_of, run_to_its_end
from tests.forkserver import Temper
from tests.once import built_once
from tests.postgres import new_database

PATIENCE = 90.0
GLANCE = 0.1
"""Seconds between two looks, each of which costs the nodes' database something: what they wait for takes seconds."""
RULES = "V-257985,V-257996"


@dataclass
class Process:
    child: subprocess.Popen[str]
    log: Path

    @property
    def node(self) -> str:
        """Its first name."""
        return next(line.split()[-1] for line in self.said if " as worker " in line)

    @property
    def said(self) -> list[str]:
        return self.log.with_suffix(".out").read_text().splitlines()

    def send(self, number: signal.Signals) -> None:
        os.kill(self.child.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.child.wait()


class Shared:
    """What the nodes share, as a test looks at it."""

    def __init__(self, address: str, data: Path) -> None:
        self.address, self.data = address, data
        self.database = open_and_migrate_database(address)
        self._looking = use_autocommit_if_shared(self.database)
        self.store = EventStore(self.database)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "TEMPER_DATABASE_URL": self.address, "no_proxy": "127.0.0.1"}

    @contextmanager
    def node(
        self, *words: str, speed: float = 0.0, command: str = "worker", data: Path | None = None
    ) -> Iterator[Process]:
        count = len(list(self.data.parent.glob("node*.log")))
        log = self.data.parent / f"node{count}.log"
        line = [command, "--data", data or self.data, "--speed", speed, *words]
        with log.open("w") as errors, log.with_suffix(".out").open("w") as out:
            child = Temper(*line, stdout=out, stderr=errors, text=True, env=self.environment)
        process = Process(child, log)
        try:
            self.until(lambda: child.poll() is not None or any("Temper" in line for line in process.said))
            assert child.poll() is None, log.read_text()
            yield process
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.end(20)

    def ask(self, host: str, rules: str) -> str:
        """As a process does that works on nothing itself."""
        settings = Settings(data=self.data)
        request = create_run_request(
            Order(host=host, rules=split_at_commas_unless_none(rules), mode="auto", pace=0, by="ada"),
            load_lineup(settings),
            settings.hosts_folder,
        )
        run = create_random_run_id()
        self.store.append([build_recorded_event(run, 1, time.time(), request, GENESIS)])
        return run

    def rows(self) -> list[RunRow]:
        with Session(self._looking) as session:
            return list(session.exec(select(RunRow)).all())

    def owner(self, run: str) -> str:
        with Session(self._looking) as session:
            row = session.get(LeaseRow, run)
            return row.node if row else ""

    def settle(self) -> None:
        """Every node has looked at the others, so that each knows its share."""
        for _ in range(2):
            seen = self._seen()
            self.until(lambda seen=seen: all(at > seen.get(name, at) for name, at in self._seen().items()))

    def living(self) -> set[str]:
        return set(self._seen())

    def _seen(self) -> dict[str, float]:
        with Session(self._looking) as session:
            return {node.name: node.seen_at for node in nodes.list_unended_nodes(session)}

    def ended(self) -> bool:
        return all(row.ended_at for row in self.rows())

    def state(self, run: str) -> RunState:
        """Of a log whose chain holds."""
        lines = self.store.read_lines(run)
        check_chain_and_get_head(lines)
        return fold_events(parse_line(line, digest) for _, line, digest in lines)

    def until(self, true, patience: float = PATIENCE) -> None:
        late = time.monotonic() + patience
        while not true():
            assert time.monotonic() < late, f"not in {patience} s"
            time.sleep(GLANCE)


@pytest.fixture(scope="session")
def server(postgres_server):
    return postgres_server


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """A run of these rules that nothing happened to."""
    built = built_once(tmp_path_factory, "undisturbed", lambda at: run_to_its_end(at / "data", 0, 0, rules=RULES))
    return end_of(built / "data", 1)


@pytest.fixture
def shared(server, tmp_path):
    made = Shared(new_database(server), tmp_path / "data")
    yield made
    made.database.dispose()
