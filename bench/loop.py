"""What the loop itself costs: time that is neither engine nor host.

    python bench/loop.py [--rules V-257820,V-257807] [--items 10,100,1000]

1. A real `temper run` at --speed 1: the share of its time that is neither a turn nor work on the host (aim: < 2 %).
2. The loop over N made-up items with an engine and a host that answer at once, on a real log: cost per item, and
   its growth from the smallest to the largest N (1.0 is none).
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import httpx

from app.engines.client import EngineClient
from app.events.bus import Bus
from app.events.event_field_types import Budget, FileChange, Probe
from app.events.kinds import RunQueued
from app.events.log_writer import LogWriter, RunLog
from app.loop.drive import drive_run
from app.loop.run_in_progress import RoleSeat, Run, RunServices
from app.loop.state import fold_events
from app.scanners.scanner import Verdict
from app.skills.skill import Rule, Skill
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.syntax.host_files_protocol import FileState
from app.targets.change_assessment import Assessment
from app.targets.planned_effects_of_actions import ChangePlan, ProposedChange
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.rebooter_protocol import RollbackResult
from app.targets.resources.resource_dry_run import DryRun
from app.targets.running_settings_report import InForceReport
from app.targets.target import AppliedChange
from app.targets.target_thread import TargetThread

ANSWERS = {
    "plan": {"approach": "a", "paths": ["/etc/issue"], "steps": [], "risk": "", "rollback": "", "validation": ""},
    "act": {"actions": [{"do": "chmod", "path": "/etc/issue", "mode": "0600"}], "note": ""},
    "review": {"explanation": "e", "veto": False, "reason": ""},
    "triage": {"assessment": "a", "alarm": False, "reason": ""},
}


class InstantHost:
    """Everything on it works, at once."""

    name, simulated, confinement, rebooter = "bench", True, "none", None

    def __init__(self):
        self.recall = ReadTrackingCache()

    @property
    def files(self):
        return self

    def cache_reads(self):
        return nullcontext()

    def set_rule_paths_to_fetch(self, paths): ...
    def assert_usable(self): ...

    def read(self, path):
        return b"x"

    def state(self, path):
        return FileState(b"x", 0o600, "root:root")

    def glob(self, pattern):
        return []

    def resolve_links(self, path):
        return path

    def prepare(self, **_): ...
    def read_facts(self):
        return {}

    def assess_actions(self, actions, allowed, asks=frozenset(), scope=None):
        change = ProposedChange(tuple(actions), frozenset(allowed), asks, scope)
        return Assessment(change, DryRun(), ChangePlan((), {}, {}, ""), "", (), (), "")

    def answer_questions(self, questions, named):
        return ()

    def list_pending(self):
        return []

    def apply(self, journal, actions, allowed, asks=frozenset(), seen=None, scope=None):
        return AppliedChange("", (FileChange("/etc/issue", "a", "b"),), 0.0)

    def roll_back(self, journal):
        return RollbackResult((), (), 0.0)

    def commit(self, journal, *, keep_images=False): ...
    def check_health(self):
        return (Probe("p", True, ""),)

    def check_in_force(self):
        return InForceReport()

    def list_resources_with_possible_actions(self, wanted):
        return ()

    def describe_drift(self, expected):
        return ()

    def read_log_lines(self, limit):
        return []

    def compute_digest(self):
        return ""


class OnceFailing:
    """Every rule fails in the opening scan and passes ever after."""

    name = "bench"

    def __init__(self) -> None:
        self.opened = False

    async def scan(self, files, rules, judged=None):
        word = "pass" if self.opened else "fail"
        self.opened = True
        return [Verdict(rule, word, "") for rule in rules]

    async def fetch_fix_script(self, rule):
        return ""

    async def scan_rehearsal_if_supported(self, files, rules):
        return [Verdict(rule, "pass", "") for rule in rules]


class NoCommands:
    async def list_open_commands(self):
        return []

    async def close(self, command): ...
    async def wait_for_commands(self):
        await asyncio.sleep(0.2)


def answer(request: httpx.Request) -> httpx.Response:
    asked = json.loads(request.content)
    text = json.dumps(ANSWERS[asked["response_format"]["json_schema"]["name"]])
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    chunks = [
        {"choices": [{"delta": {"content": text}, "finish_reason": None}], "usage": usage},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage},
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return httpx.Response(200, text=body, headers={"content-type": "text/event-stream"})


async def per_item(items: int) -> float:
    wants, passes = "/etc/issue must have mode 0600.", Verdict("", "pass", "")
    names = [f"R-{number}" for number in range(items)]
    rules = {name: Rule(name, "", "II", "t", wants, "f", ("/etc/issue",), lambda _: passes) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        store = EventStore(open_and_migrate_database(Path(folder) / "bench.sqlite"))
        writer = LogWriter(store, Bus())
        writer.start()
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
            client = EngineClient(http, "http://engine/v1")
            seats = {
                role: RoleSeat(role, "e", "m", (client,), 500, 4096, 0.0)
                for role in ("architect", "worker", "auditor", "sentry")
            }
            log = RunLog("bench", writer)
            first = log.append(
                RunQueued(
                    host="bench",
                    skill="bench",
                    rules=tuple(rules),
                    mode="auto",
                    budget=Budget(),
                    lineup="",
                    simulated=True,
                )
            )
            means = RunServices(Skill("bench", "", rules), TargetThread(InstantHost()), OnceFailing(), seats, "bench")
            began = time.perf_counter()
            run = Run(fold_events(first), log, means)
            await drive_run(run, NoCommands())
            took = time.perf_counter() - began
        await writer.close()
    assert run.state.ended.passed == items, run.state.ended
    return took / items


def share(rules: str) -> tuple[float, float]:
    """(wall seconds, share of them that is the loop's own) of a real run at --speed 1."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--data", folder, "--speed", "1", "--json", "--rules", rules]
        done = subprocess.run([sys.executable, "-m", "app", *words], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    at = {event["seq"]: datetime.fromisoformat(event["at"]).timestamp() for event in events}
    begun = next(event for event in events if event["kind"] == "run.started")
    wall = at[events[-1]["seq"]] - at[begun["seq"]]
    spent = sum(event.get("seconds", 0.0) for event in events if event["kind"] in WORK)
    return wall, 1 - spent / wall


WORK = ("turn.finished", "action.applied", "action.rolled_back", "scan.finished")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="V-257820,V-257807,V-257985")
    parser.add_argument("--items", default="10,100,1000")
    told = parser.parse_args()
    sizes = [int(size) for size in told.items.split(",")]
    costs = {size: asyncio.run(per_item(size)) for size in sizes}
    for size, cost in costs.items():
        print(f"{size:5} items: {cost * 1000:6.2f} ms an item")
    print(f"growth from {sizes[0]} to {sizes[-1]} items: {costs[sizes[-1]] / costs[sizes[0]]:.2f}")
    wall, own = share(told.rules)
    print(f"run at --speed 1: {wall:.1f} s, of which {own:.2%} is neither engine nor host (probes count as the loop's)")


if __name__ == "__main__":
    main()
