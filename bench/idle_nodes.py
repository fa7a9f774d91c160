"""What nodes on one PostgreSQL take of a core, and ask of it, while nothing is worked on.

    python bench/idle_nodes.py [--nodes 3] [--seconds 60] [--root FOLDER] [--said]

Processor time by the kernel's own count; statements by pg_stat_statements. The first node serves, the others work.
--root: another checkout, to compare with. --said: each statement and how often it was sent.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from idle import ROOT, SETTLED, children, ticks

sys.path.insert(0, str(ROOT))

from tests.postgres import new_database, postgres

SETTINGS = ("shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=1000")
COUNTED = """select query, calls from pg_stat_statements join pg_database on pg_database.oid = dbid
    where datname = current_database() and query not like '%pg_stat_statements%'"""
FRAME = ("BEGIN", "COMMIT", "ROLLBACK")
HEAD = (
    "| nodes | a node, % of a core | its event loop | its other threads | PostgreSQL"
    " | statements a second | BEGIN, COMMIT, ROLLBACK | DBOS | the rest |"
    "\n|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--said", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(postgres(*SETTINGS))
        address = new_database(server.address)
        database = stack.enter_context(psycopg.connect(address, autocommit=True))
        database.execute("create extension pg_stat_statements")
        pids = [stack.enter_context(node(asked.root, folder, address, number)) for number in range(asked.nodes)]
        time.sleep(SETTLED)
        before, said, began = spent(pids, server.pid), statements(database), time.monotonic()
        threading.Event().wait(asked.seconds)
        took = time.monotonic() - began
        rates = [(now - was) / took for was, now in zip(before, spent(pids, server.pid), strict=True)]
        sent = Counter({query: calls / took for query, calls in (statements(database) - said).items()})
    print(HEAD, row(asked.nodes, rates, sent), sep="\n")
    if asked.said:
        print("\n".join(f"{rate:7.2f}  {' '.join(query.split())[:200]}" for query, rate in sent.most_common()))


def row(nodes: int, rates: list[float], sent: Counter[str]) -> str:
    whole, loop, server = rates
    frame = sum(rate for query, rate in sent.items() if query.startswith(FRAME))
    queue = sum(rate for query, rate in sent.items() if "dbos" in query)
    shares = [f"{100 * one / nodes:.2f}" for one in (whole, loop, whole - loop)]
    counts = [f"{one:.1f}" for one in (sent.total(), frame, queue, sent.total() - frame - queue)]
    return f"| {' | '.join([str(nodes), *shares, f'{100 * server:.2f}', *counts])} |"


def spent(nodes: list[int], server: int) -> tuple[float, float, float]:
    """Seconds of all nodes, of their first threads, and of PostgreSQL with all that it ever forked."""
    return (
        sum(ticks(Path(f"/proc/{pid}/stat")) for pid in nodes),
        sum(ticks(Path(f"/proc/{pid}/task/{pid}/stat")) for pid in nodes),
        sum(ticks(Path(f"/proc/{pid}/stat"), ended=True) for pid in (server, *children(server))),
    )


def statements(database: psycopg.Connection) -> Counter[str]:
    said: Counter[str] = Counter()
    for query, calls in database.execute(COUNTED):
        said[query] += calls
    return said


@contextmanager
def node(root: Path, folder: Path, address: str, number: int) -> Iterator[int]:
    words = ["worker"] if number else ["serve", "--port", "0"]
    command = [sys.executable, "-m", "app", *words, "--data", str(folder / "data")]
    environment = {**os.environ, "TEMPER_DATABASE_URL": address}
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield process.pid
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
