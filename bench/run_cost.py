"""Where the processor time of a run goes, beside what the loop itself costs in the same minute.

    python bench/run_cost.py [--hosts 8] [--rule V-257820] [--json FILE]

SIMULATED engines without a pace, and built-in hosts: trees of real files. Three things are played in one process:

1. the whole skill on one host,
2. the whole skill on several hosts at once,
3. one rule, in a process that has already done it once.

Told are processor seconds, so that a busy machine hardly matters: those of the event loop's thread, of the hosts' own
threads, of all other threads (the log's writer, the queue, SQL) and of the programs that checks ask (sshd, visudo).
The simulator is a process of its own and is left out. As a floor stands beside them what bench/loop.py has for an item:
the loop with an engine and a host that answer at once.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.runs.order import Order, create_run_request
from app.runtime.runtime import Runtime
from app.skills.stig.pack import STIG
from bench.loop import per_item
from tests.following import followed

LOOK_EVERY = 0.02
FLOOR_ITEMS, AGAIN = 100, 5
WATCH = "the watch itself"
PARTS = ("loop", "hosts", "others", "checks")


@dataclass
class Spent:
    """Processor seconds by part, from one moment to another."""

    began: float
    checks: float
    whole: float = 0.0
    threads: dict[int, tuple[str, float]] = field(default_factory=dict)
    """Each thread that was seen: whose it is, and its seconds."""

    def told(self) -> dict[str, float]:
        found = {part: self._of(part) for part in ("loop", "hosts")}
        rest = self.whole - sum(found.values()) - self._of(WATCH)
        return found | {"others": rest, "checks": self.checks}

    def _of(self, part: str) -> float:
        return sum(seconds for name, seconds in self.threads.values() if name == part)


def of_children() -> float:
    """Of those that have ended: the simulator has not."""
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def of_thread(one: int) -> float:
    return int(Path(f"/proc/self/task/{one}/schedstat").read_text().split()[0]) / 1e9


@contextmanager
def watched() -> Iterator[Spent]:
    """A host's thread ends with its run, so threads are looked at all the while; what that costs is not counted."""
    spent, before, ended = Spent(time.process_time(), of_children()), threads(), threading.Event()

    def look() -> None:
        for one, (part, seconds) in threads().items():
            spent.threads[one] = part, seconds - before.get(one, ("", 0.0))[1]

    def keep_looking() -> None:
        while not ended.wait(LOOK_EVERY):
            look()

    looking = threading.Thread(target=keep_looking, name=WATCH)
    looking.start()
    try:
        yield spent
    finally:
        look()
        ended.set()
        looking.join()
        spent.whole = time.process_time() - spent.began
        spent.checks = of_children() - spent.checks


def threads() -> dict[int, tuple[str, float]]:
    """Those that there are now: whose each is, and its processor seconds."""
    found = {}
    for thread in threading.enumerate():
        with suppress(OSError):  # it has ended
            found[thread.native_id] = part_of(thread), of_thread(thread.native_id)
    return found


def part_of(thread: threading.Thread) -> str:
    if thread is threading.main_thread():
        return "loop"
    return "hosts" if thread.name.startswith("host ") else thread.name


async def runs(runtime: Runtime, hosts: int, rules: tuple[str, ...] | None) -> dict[str, float]:
    """On so many hosts at once, from asking to the end of the last."""
    names = ("fixture", *(f"fixture-{number}" for number in range(2, hosts + 1)))
    with watched() as spent:
        orders = [Order(host=name, rules=rules, mode="auto", replay_fixes=False, by="bench") for name in names]
        asked = [
            await runtime.submit_run(create_run_request(order, runtime.lineup, runtime.settings.hosts_folder))
            for order in orders
        ]
        logs = await asyncio.gather(*(followed(runtime, run) for run in asked))
    turns = [one.event for log in logs for one in log if one.event.__struct_config__.tag == "turn.finished"]
    assert all(log[-1].event.__struct_config__.tag == "run.finished" for log in logs)
    return spent.told() | {"turns": len(turns), "events": sum(map(len, logs))}


async def measured(hosts: int, rule: str) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), speed=0, kind="run")
        async with open_runtime(settings, load_lineup(settings)) as runtime:
            await runs(runtime, 1, (rule,))
            one = [await runs(runtime, 1, (rule,)) for _ in range(AGAIN)]
            return {
                "one host, all rules": await runs(runtime, 1, None),
                f"{hosts} hosts, all rules": await runs(runtime, hosts, None),
                "one host, one rule": {name: sum(found[name] for found in one) / AGAIN for name in one[0]},
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rule", default="V-257820")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    began = time.process_time()
    asyncio.run(per_item(FLOOR_ITEMS))
    floor = (time.process_time() - began) / FLOOR_ITEMS
    found = asyncio.run(measured(asked.hosts, asked.rule))
    print(f"floor, an engine and a host that answer at once: {floor * 1000:.1f} ms an item")
    for name, told in found.items():
        items = (asked.hosts if "hosts" in name else 1) * (len(STIG.rules) if "all" in name else 1)
        whole = sum(told[part] for part in PARTS)
        each = ", ".join(f"{part} {1000 * told[part] / items:.0f}" for part in PARTS)
        print(f"{name}: {1000 * whole / items:.0f} ms a rule ({each}): {whole / items / floor:.0f} floors")
        print(f"  the loop's thread: {1000 * told['loop'] / told['turns']:.1f} ms a turn, of {told['turns']:.0f}")
    if asked.json:
        asked.json.write_text(json.dumps({"floor": floor, "cores": os.cpu_count()} | found, indent=1) + "\n")


if __name__ == "__main__":
    main()
