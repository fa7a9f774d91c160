"""What it takes of memory and processor time to make the evidence of a rollout, by how many runs it has.

    python bench/bundle.py [--runs 50,200] [--rules V-257984,V-257985,V-257981] [--verify]

One run is really made, on the built-in host with SIMULATED engines; the others are copies of its log, each with an id
and a chain of its own, and the rollout's chain is made up around them. Then `temper rollout evidence` is called in a
process of its own, whose largest resident memory and processor time the kernel tells. Between two of them the database
stays and only grows. --verify has `temper verify` check each file as well.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent.parent))
from app.events.event_field_types import Budget
from app.events.kinds import Event, RolloutEnded, RolloutHostBegun, RolloutHostEnded, RolloutOrdered, RunQueued
from app.events.record import GENESIS, Recorded, build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.rollouts import open_rollout_journal

TEMPER = (sys.executable, "-m", "app")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--runs", default="50,200")
    asked.add_argument("--rules", default="V-257984,V-257985,V-257981")
    asked.add_argument("--verify", action="store_true")
    given = asked.parse_args()
    print("| runs | zip, MB | processor s | largest resident memory, MiB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="temper-bench-") as folder:
        data = Path(folder) / "data"
        subprocess.run(
            [*TEMPER, "run", "--data", data, "--speed", "0", "--rules", given.rules],
            stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        for runs in map(int, given.runs.split(",")):
            out = Path(folder) / "evidence.zip"
            seconds, memory = spent("rollout", "evidence", made_up(data, runs), "--data", data, "--out", out)
            print(f"| {runs} | {out.stat().st_size / 1e6:.1f} | {seconds:.1f} | {memory:.0f} |", flush=True)
            if given.verify:
                seconds, memory = spent("verify", out)
                print(f"| {runs}, verified | | {seconds:.1f} | {memory:.0f} |", flush=True)


def made_up(data: Path, runs: int) -> str:
    """The id of a rollout with so many runs."""
    database = open_and_migrate_database(data / "temper.sqlite")
    store, rollout = EventStore(database), f"{runs:08x}"
    with database.connect() as connection:
        (first,) = connection.exec_driver_sql("select id from run order by started_at limit 1").scalars()
    log = list(store.read_events(first))
    copies = [f"{runs:04x}{one:04x}" for one in range(runs)]
    hosts = {f"host-{one}": copy for one, copy in enumerate(copies)}
    asked_for = log[0].event
    assert isinstance(asked_for, RunQueued)
    for host, copy in hosts.items():
        own = [replace(asked_for, host=host), *(one.event for one in log[1:])]
        store.append(list(chained(copy, zip((one.at for one in log), own, strict=True))))
    begun = (RolloutHostBegun(host=host, of=run, wave=1) for host, run in hosts.items())
    ended = (
        RolloutHostEnded(host=host, of=run, state="finished", findings=3, passed=3, escalated=0, rolled_back=0, harm="")
        for host, run in hosts.items()
    )
    asked = RolloutOrdered(
        hosts=tuple(hosts), words="all", skill="stig", rules=(), mode="auto", keep=False, budget=Budget(),
        lineup="simulated", simulated=True, pace=0, at_once=8, waves=(1, runs), harmed=1, escalated=100.0,
    )  # fmt: skip
    with open_rollout_journal(database, rollout) as written:
        written.append(asked, *begun, *ended, RolloutEnded(state="finished"))
    database.dispose()
    return rollout


def chained(run: str, steps: Iterable[tuple[float, Event]]) -> Iterator[Recorded]:
    last = GENESIS
    for seq, (at, event) in enumerate(steps, 1):
        one = build_recorded_event(run, seq, at, event, last)
        last = one.hash
        yield one


def spent(*words: str | Path) -> tuple[float, float]:
    """Processor seconds and the largest resident memory in MiB."""
    process = subprocess.Popen([*TEMPER, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"temper {words[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
