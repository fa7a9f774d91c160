"""A thousand hosts by one rollout, three nodes, one PostgreSQL: is anything at the end other than at the beginning?

    python bench/thousand.py [--hosts 1000] [--at-once 24] [--rule V-257820] [--seconds 480]

SIMULATED engines without a pace, one of them per node, and built-in hosts: trees of real files, laid out alike, in one
folder that the three nodes share. Of built-in hosts there are ninety-nine; for this bench their number is lifted. One
rule a host. One node serves, and is asked for the pages and the API while all three work.

The rollout is asked for over the API. Every few seconds the pages are timed, once each, and the memory of each node
(PSS, with the simulator that it started) and the size of the database are read. What is told is the first tenth of the
hosts beside the last tenth. --seconds ends it earlier: then the last tenth is that of the hosts that were done. After
the first tenth and at the end the rollout is paused, and what a page costs the server is told by its processor time.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
from processes import family, pss

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres import new_database, postgres

ROOT = Path(__file__).parent.parent
LOOK_EVERY = 4.0
FIRST_TENTHS, ASKED = 10, 25
NODE = """import re, sys
from app.targets import registry
registry._FIXTURES = re.compile(r"fixture(-[2-9]|-[1-9][0-9]{1,3})?")
from app.__main__ import main
sys.argv = ["temper", *sys.argv[1:]]
main()
"""
PAGES = {
    "/fleet": "/fleet",
    "the rollout's page": "/fleet/{rollout}",
    "API: the rollout": "/api/v1/rollouts/{rollout}",
    "API: 50 runs": "/api/v1/runs",
}


@dataclass(frozen=True)
class Look:
    at: float
    done: int
    events: int
    size: int
    memory: Sequence[float]
    """MiB, of each node."""
    seconds: dict[str, float]
    weights: dict[str, int]


@contextmanager
def node(folder: Path, address: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "TEMPER_DATABASE_URL": address, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    log = folder / f"{len(list(folder.glob('*.log')))}.log"
    with log.open("w") as errors:
        line = [sys.executable, "-c", NODE, *words, "--data", str(folder / "data"), "--speed", "0"]
        child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=ROOT)
    try:
        yield child
    finally:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=60)
        child.kill()
        if said := log.read_text().strip():
            print(f"{log.name}: {said[-600:]}", file=sys.stderr)


def mib(pid: int) -> float:
    return sum(map(pss, family(pid))) / 1024


def spent(pid: int) -> float:
    """Seconds of processor time."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def at_rest(http: httpx.Client, rollout: str, server: int) -> dict[str, float]:
    """Processor time of the server for each page, with nothing at work: whatever else the machine does."""
    http.post(f"/api/v1/rollouts/{rollout}/pause")
    while http.get("/api/v1/runs?state=running").json()["runs"]:
        time.sleep(1)
    found = {}
    for name, place in PAGES.items():
        before = spent(server)
        for _ in range(ASKED):
            http.get(place.format(rollout=rollout), headers={"accept-encoding": "identity"})
        found[name] = (spent(server) - before) / ASKED
    return found


def looked(http: httpx.Client, rollout: str, database: str, nodes: Sequence[int], began: float) -> Look:
    seconds, weights = {}, {}
    for name, place in PAGES.items():
        at = time.perf_counter()
        answer = http.get(place.format(rollout=rollout), headers={"accept-encoding": "identity"})
        seconds[name], weights[name] = time.perf_counter() - at, len(answer.content)
        assert answer.status_code == 200, (name, answer.text[:300])
    with psycopg.connect(database) as connection:
        [(size, events, done)] = connection.execute(
            "select pg_database_size(current_database()), (select count(*) from event),"
            " (select count(*) from run where ended_at is not null)"
        ).fetchall()
    return Look(time.monotonic() - began, done, events, size, [mib(one) for one in nodes], seconds, weights)


def played(asked: argparse.Namespace) -> tuple[list[Look], list[dict[str, float]], str]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="temper-thousand-")))
        address = new_database(stack.enter_context(postgres("shared_buffers=256MB", "autovacuum_naptime=5s")).address)
        serving = stack.enter_context(node(folder, address, "serve", "--port", "0"))
        assert serving.stdout
        url = next(line for line in serving.stdout if "http://" in line).split()[-1]
        threading.Thread(target=serving.stdout.read, daemon=True).start()
        others = [stack.enter_context(node(folder, address, "worker")) for _ in range(2)]
        for one in others:
            assert one.stdout
            one.stdout.readline()
        pids = [serving.pid, *(one.pid for one in others)]
        http = stack.enter_context(httpx.Client(base_url=url, timeout=120))
        names = ["fixture", *(f"fixture-{number}" for number in range(2, asked.hosts + 1))]
        for at in range(0, len(names), 100):
            told = http.put(f"/api/v1/groups/g{at // 100}", json={"hosts": names[at : at + 100]})
            assert told.status_code < 300, told.text
        groups = ",".join(f"g{at // 100}" for at in range(0, len(names), 100))
        order = {"hosts": groups, "rules": [asked.rule], "at_once": asked.at_once, "waves": "1,10%,rest"}
        told = http.post("/api/v1/rollouts", json=order)
        assert told.status_code == 202, told.text
        rollout, began, looks, rests = told.json()["id"], time.monotonic(), [], []
        while True:
            looks.append(looked(http, rollout, address, pids, began))
            one = looks[-1]
            pages = " ".join(f"{1000 * seconds:.0f}" for seconds in one.seconds.values())
            memory = " ".join(f"{each:.0f}" for each in one.memory)
            print(
                f"{one.at:6.0f} s {one.done:5} done {one.events:7} events {one.size >> 20:4} MiB  {pages} ms  {memory}"
            )
            over = one.done >= asked.hosts or one.at > asked.seconds
            if over or (not rests and one.done >= asked.hosts / FIRST_TENTHS):
                rests.append(at_rest(http, rollout, serving.pid))
                if not over:  # who is to end soon begins nothing new
                    http.post(f"/api/v1/rollouts/{rollout}/resume")
            if over:
                state = http.get(f"/api/v1/rollouts/{rollout}").json()
                return looks, rests, f"{one.done} of {len(state['parts'])} hosts in {one.at:.0f} s"
            time.sleep(LOOK_EVERY)


def tenth(looks: Sequence[Look], first: int, last: int) -> list[Look]:
    """The looks from which so many hosts were done to which so many were."""
    return [one for one in looks if first <= one.done <= last] or [looks[-1]]


def table(looks: Sequence[Look], rests: Sequence[dict[str, float]]) -> list[str]:
    done = looks[-1].done
    early, late = tenth(looks, 1, done // FIRST_TENTHS), tenth(looks, done - done // FIRST_TENTHS, done)

    def grown(part: Sequence[Look], what: str) -> float:
        hosts = max(1, part[-1].done - part[0].done)
        return float(getattr(part[-1], what) - getattr(part[0], what)) / hosts

    def rate(part: Sequence[Look], what: str) -> float:
        return float(getattr(part[-1], what) - getattr(part[0], what)) / max(0.001, part[-1].at - part[0].at)

    rows = [
        ("hosts done", f"{early[0].done} to {early[-1].done}", f"{late[0].done} to {late[-1].done}"),
        ("events a second, all nodes", f"{rate(early, 'events'):.0f}", f"{rate(late, 'events'):.0f}"),
        ("hosts a minute", f"{60 * rate(early, 'done'):.0f}", f"{60 * rate(late, 'done'):.0f}"),
        ("database, KiB a host", f"{grown(early, 'size') / 1024:.0f}", f"{grown(late, 'size') / 1024:.0f}"),
    ]
    for name in PAGES:
        told = [statistics.median(one.seconds[name] for one in part) * 1000 for part in (early, late)]
        weight = f" ({late[-1].weights[name] / 1000:.0f} kB)"
        rows.append((f"{name}{weight}, ms, all at work", *(f"{one:.0f}" for one in told)))
        rows.append(
            (f"{name}, ms of processor time, at rest", *(f"{1000 * one[name]:.0f}" for one in (rests[0], rests[-1])))
        )
    for number in range(len(looks[0].memory)):
        told = [statistics.median(one.memory[number] for one in part) for part in (early, late)]
        rows.append((f"memory of node {number + 1} with its simulator, MiB", *(f"{one:.0f}" for one in told)))
    return ["| | first tenth | last tenth |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=24)
    parser.add_argument("--rule", default="V-257820")
    parser.add_argument("--seconds", type=float, default=480.0)
    asked = parser.parse_args()
    looks, rests, state = played(asked)
    print("\n".join(["", *table(looks, rests), "", state]))


if __name__ == "__main__":
    main()
