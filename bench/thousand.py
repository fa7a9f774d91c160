"""A thousand hosts by one rollout, three nodes, one PostgreSQL: is anything at the end other than at the beginning?

    python bench/thousand.py [--hosts 1000] [--at-once 24] [--rule V-257820] [--seconds 480] [--kill-at 500] [--at-rest]
                             [--evidence]

SIMULATED engines without a pace, one of them per node, and built-in hosts: trees of real files, laid out alike, in one
folder that the three nodes share. Of built-in hosts there are ninety-nine; for this bench their number is lifted. One
rule a host. One node serves, and is asked for the pages and the API while all three work.

The rollout is asked for over the API. Every second or two the pages are timed, once each, and what the nodes hold of
memory (PSS, with the simulator that each started), the size of the database and who waits there for a lock are read.
What is told is the first tenth of the hosts beside the last tenth. --seconds ends it earlier: then the last tenth is
that of the hosts that were done.

--kill-at ends one of the three by SIGKILL when so many hosts are done, and puts another in its place once all its runs
have gone on elsewhere. --at-rest pauses the rollout after the first tenth and at the end, and tells what a page costs
the server by its processor time, however busy the machine is. --evidence has the bundle of all runs made at the end.

Statements are counted by pg_stat_statements, of the database's contributed modules.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.nodes.started import Nodes, mib, nodes, spent
from bench.nodes.takeover import Takeover, ended_once, killed
from tests.postgres import new_database, postgres

LOOK_EVERY = 1.5
TENTH, ASKED = 10, 25
SETTINGS = ("shared_buffers=256MB", "autovacuum_naptime=5s", "shared_preload_libraries=pg_stat_statements")
PAGES = {
    "/fleet": "/fleet",
    "the rollout's page": "/fleet/{rollout}",
    "API: the rollout": "/api/v1/rollouts/{rollout}",
    "API: 50 runs": "/api/v1/runs",
}
COUNTED = (
    "select pg_database_size(current_database()), (select count(*) from event),"
    " (select count(*) from run where ended_at is not null),"
    " (select count(*) from pg_stat_activity where wait_event_type = 'Lock'),"
    " (select sum(calls) from pg_stat_statements)"
)


@dataclass(frozen=True)
class Look:
    at: float
    done: int
    events: int
    size: int
    waiting: int
    """Connections that wait for a lock."""
    statements: int
    memory: Sequence[float]
    """MiB, of each node."""
    processor: float
    """Seconds of all nodes and of PostgreSQL since the beginning."""
    seconds: dict[str, float]
    weights: dict[str, int]


@dataclass
class Played:
    hosts: int
    nodes: Nodes
    postgres: int
    http: httpx.Client
    database: psycopg.Connection
    rollout: str = ""
    began: float = 0.0
    looks: list[Look] = field(default_factory=list)
    rests: list[dict[str, float]] = field(default_factory=list)
    takeover: Takeover | None = None

    def ask(self, rule: str, at_once: int) -> None:
        names = ["fixture", *(f"fixture-{number}" for number in range(2, self.hosts + 1))]
        groups = {f"g{at // 100}": names[at : at + 100] for at in range(0, self.hosts, 100)}
        for group, hosts in groups.items():
            self.http.put(f"/api/v1/groups/{group}", json={"hosts": hosts}).raise_for_status()
        order = {"hosts": ",".join(groups), "rules": [rule], "at_once": at_once, "waves": "1,10%,rest"}
        told = self.http.post("/api/v1/rollouts", json=order)
        assert told.status_code == 202, told.text
        self.rollout, self.began = told.json()["id"], time.monotonic()

    def look(self) -> Look:
        seconds, weights = {}, {}
        for name, place in PAGES.items():
            at = time.perf_counter()
            answer = self._page(place)
            seconds[name], weights[name] = time.perf_counter() - at, len(answer.content)
            assert answer.status_code == 200, (name, answer.text[:300])
        [(size, events, done, waiting, statements)] = self.database.execute(COUNTED).fetchall()
        pids = self.nodes.pids
        memory, processor = [mib(one) for one in pids], sum(map(spent, (*pids, self.postgres)))
        at = time.monotonic() - self.began
        return Look(at, done, events, size, waiting, int(statements), memory, processor, seconds, weights)

    def rest(self) -> None:
        """Processor time of the server for each page, with nothing at work: whatever else the machine does."""
        self.http.post(f"/api/v1/rollouts/{self.rollout}/pause")
        while self.http.get("/api/v1/runs?state=running").json()["runs"]:
            time.sleep(1)
        found, server = {}, self.nodes.pids[0]
        for name, place in PAGES.items():
            before = spent(server)
            for _ in range(ASKED):
                self._page(place)
            found[name] = (spent(server) - before) / ASKED
        self.rests.append(found)

    def _page(self, place: str) -> httpx.Response:
        return self.http.get(place.format(rollout=self.rollout), headers={"accept-encoding": "identity"})

    def kill(self) -> None:
        self.takeover = killed(self.database, self.nodes.started[-1])

    def follow_takeover(self) -> None:
        if self.takeover and not self.takeover.over:
            self.takeover.look(self.database)
            if self.takeover.over:
                self.nodes.work()

    def state(self) -> dict[str, object]:
        return dict(self.http.get(f"/api/v1/rollouts/{self.rollout}").json())


def play(played: Played, asked: argparse.Namespace) -> None:
    while True:
        one = played.look()
        played.looks.append(one)
        print(line(one), flush=True)
        played.follow_takeover()
        if asked.kill_at and one.done >= asked.kill_at and not played.takeover:
            played.kill()
        over = one.done >= asked.hosts or one.at > asked.seconds
        if asked.at_rest and (over or (not played.rests and one.done >= asked.hosts / TENTH)):
            played.rest()
            if not over:  # who is to end soon begins nothing new
                played.http.post(f"/api/v1/rollouts/{played.rollout}/resume")
        if over:
            return
        time.sleep(LOOK_EVERY)


def line(one: Look) -> str:
    pages = " ".join(f"{1000 * seconds:.0f}" for seconds in one.seconds.values())
    memory = " ".join(f"{each:.0f}" for each in one.memory)
    counts = f"{one.done:5} done {one.events:7} events {one.size >> 20:4} MiB {one.statements:8} statements"
    return f"{one.at:6.1f} s {counts} {one.processor:7.1f} s of CPU, {one.waiting} wait  {pages} ms  {memory} MiB"


def tenths(looks: Sequence[Look]) -> tuple[list[Look], list[Look]]:
    done = looks[-1].done
    early = [one for one in looks if one.done <= done // TENTH] or [looks[0]]
    late = [one for one in looks if one.done >= done - done // TENTH]
    return early, late


def table(looks: Sequence[Look], rests: Sequence[dict[str, float]]) -> list[str]:
    parts = early, late = tenths(looks)

    def a_host(what: Callable[[Look], float]) -> list[float]:
        return [(what(part[-1]) - what(part[0])) / max(1, part[-1].done - part[0].done) for part in parts]

    def a_second(what: Callable[[Look], float]) -> list[float]:
        return [(what(part[-1]) - what(part[0])) / max(0.001, part[-1].at - part[0].at) for part in parts]

    rows: list[tuple[str, Sequence[str]]] = [
        ("hosts done", [f"{part[0].done} to {part[-1].done}" for part in parts]),
        ("hosts a minute", [f"{60 * one:.0f}" for one in a_second(lambda look: look.done)]),
        ("events a second, all nodes", [f"{one:.0f}" for one in a_second(lambda look: look.events)]),
        ("statements a host", [f"{one:.0f}" for one in a_host(lambda look: look.statements)]),
        ("processor time a host, ms", [f"{1000 * one:.0f}" for one in a_host(lambda look: look.processor)]),
        ("database, KiB a host", [f"{one / 1024:.0f}" for one in a_host(lambda look: look.size)]),
        ("connections that wait for a lock", [f"{statistics.mean(one.waiting for one in part):.1f}" for part in parts]),
    ]
    for name in PAGES:
        told = [statistics.median(one.seconds[name] for one in part) for part in parts]
        weight = late[-1].weights[name] / 1000
        rows.append((f"{name} ({weight:.0f} kB), ms, all at work", [f"{1000 * one:.0f}" for one in told]))
        if rests:
            told = [rest[name] for rest in (rests[0], rests[-1])]
            rows.append((f"{name}, ms of processor time, at rest", [f"{1000 * one:.0f}" for one in told]))
    for number in range(min(len(early[-1].memory), len(late[-1].memory))):
        told = [statistics.median(one.memory[number] for one in part if len(one.memory) > number) for part in parts]
        rows.append((f"memory of node {number + 1} with its simulator, MiB", [f"{one:.0f}" for one in told]))
    return [
        "| | first tenth | last tenth |",
        "|---|---|---|",
        *(f"| {what} | {one} | {other} |" for what, (one, other) in rows),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=24)
    parser.add_argument("--rule", default="V-257820")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--at-rest", action="store_true")
    parser.add_argument("--evidence", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="temper-thousand-")))
        server = stack.enter_context(postgres(*SETTINGS))
        address = new_database(server.address)
        database = stack.enter_context(psycopg.connect(address, autocommit=True))
        database.execute("create extension pg_stat_statements")
        at_work = stack.enter_context(nodes(folder, address))
        http = stack.enter_context(httpx.Client(base_url=at_work.serve(), timeout=120))
        at_work.work()
        at_work.work()
        played = Played(asked.hosts, at_work, server.pid, http, database)
        played.ask(asked.rule, asked.at_once)
        play(played, asked)
        looks = played.looks
        print("\n".join(["", *table(looks, played.rests), ""]))
        print(f"{looks[-1].done} of {asked.hosts} hosts in {looks[-1].at:.0f} s")
        if played.takeover:
            print(played.takeover.told())
        if looks[-1].done >= asked.hosts:
            print(ended(played, evidence=asked.evidence))


def ended(played: Played, *, evidence: bool) -> str:
    """What holds of the log; and how long its evidence took."""
    while played.state()["state"] == "running":
        time.sleep(0.5)
    told = ended_once(played.database, played.rollout, played.hosts)
    if not evidence:
        return told
    at = time.perf_counter()
    answer = played.http.get(f"/api/v1/rollouts/{played.rollout}/evidence.zip")
    assert answer.status_code == 200, answer.text[:300]
    return f"{told}; evidence {len(answer.content) / 1e6:.1f} MB, made in {time.perf_counter() - at:.1f} s"


if __name__ == "__main__":
    main()
