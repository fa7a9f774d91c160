"""Hosts side by side on shared engines: how many an hour, how full the cache was, and how long turns waited.

    python bench/fleet.py [--hosts 1,8,40] [--rules 6] [--speed 1] [--kv 416038] [--write]

SIMULATED engines. Their pace for one request, and for eight at a time, is what was measured on H200s
(docs/measurements/engines_h200.md); between and beyond these two points it is a curve through them, and max_num_seqs
keeps the large engine at eight, where it was measured. The hosts are trees of real files, laid out alike; the loop, the
queue, policy, scanner, probes and log are the product's own. Each figure is of one round, in its own data folder.

One host after the other is timed on the first ones alone. With replay on, the first host is done before the others
begin, as a canary would be: what held there is offered to the rest.
"""

import argparse
import asyncio
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app import __version__
from app.cli.runtime_opening import open_runtime
from app.config import Settings
from app.events.event_field_types import Budget
from app.events.kinds import ItemPassed, RunQueued, TurnStarted
from app.events.log_writer import RunLog
from app.lineups.model import Lineup
from app.lineups.reader import read_lineup
from app.loop.drive import drive_run
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import fold_events
from app.runs.scanner_factory import create_scanner
from app.runtime.role_engine_clients import create_seats
from app.runtime.runtime import Runtime, create_random_run_id
from app.scores.trial_runner import NoOperator
from app.skills.catalog import load_skill
from app.store.prior_knowledge import StoredRunHistory
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.target_thread import TargetThread

ROOT = Path(__file__).parent.parent
RULES = ("V-258069", "V-258068", "V-257984", "V-257996", "V-257820", "V-257807", "V-257985", "V-258074")
ENGINES = {
    "gemma-31b": ("Gemma 4 31B NVFP4", "nvfp4", [0, 1], 111.7, 597, 8),
    "gemma-e4b": ("Gemma 4 E4B", "bf16", [2], 203.9, 1414, 32),
    "gemma-e2b": ("Gemma 4 E2B", "bf16", [3], 295.0, 2097, 32),
}
"""Title, precision, GPUs, tokens a second for one request and for eight together, max_num_seqs."""
SEATS = {
    "architect": ("gemma-31b", 1200),
    "worker": ("gemma-31b", 1200),
    "auditor": ("gemma-e4b", 600),
    "sentry": ("gemma-e2b", 400),
}
SOURCE = "measured on H200 at 1 and 8 streams of 256 tokens, vLLM 0.25.1; prefill and cold load estimated"


@dataclass(frozen=True)
class Round:
    hosts: int
    at_once: int
    replay: bool
    seconds: float
    passed: int
    items: int
    waits: Sequence[float]
    turns: int
    kv_most: int
    kv_tokens: int
    requests_most: int

    @property
    def per_hour(self) -> float:
        return 3600 * self.hosts / self.seconds


def lineup_file(folder: Path, kv: int) -> Path:
    lines = ['title = "H200s, simulated"', f'note = "Simulated: {SOURCE}."']
    for index in range(4):
        lines += ["[[gpus]]", f"index = {index}", 'kind = "NVIDIA H200"', "memory_gib = 140.4", "bandwidth_gb_s = 4800"]
    for name, (title, precision, gpus, alone, eight, streams) in ENGINES.items():
        lines += [
            f"[engines.{name}]",
            f'title = "{title}"',
            f'model = "{name}"',
            f'precision = "{precision}"',
            f"gpus = {gpus}",
            f"tp = {len(gpus)}",
            "max_model_len = 8192",
            f"max_num_seqs = {streams}",
            f"[engines.{name}.simulation]",
            f"tok_s = {alone}",
            f"eight_tok_s = {eight}",
            "prefill_tok_s = 20000",
            "cold_load_s = 5",
            "vram_gib_per_gpu = 71.9",
            "weights_gib_per_gpu = 15.3",
            f"kv_tokens = {kv if name == 'gemma-31b' else 612071}",
            f'source = "{SOURCE}"',
        ]
    for role, (engine, tokens) in SEATS.items():
        lines += [f"[seats.{role}]", f'engine = "{engine}"', "temperature = 0.2", f"max_tokens = {tokens}"]
    place = folder / "h200-simulated.toml"
    place.write_text("\n".join(lines) + "\n")
    return place


async def worked(runtime: Runtime, host: str, rules: tuple[str, ...], *, replay: bool) -> str:
    """One host from its first look to the end of its run."""
    target = FixtureTarget(host, runtime.settings.data / "bench" / host)
    pack, run = load_skill("stig"), create_random_run_id()
    asked = RunQueued(
        host=host,
        skill="stig",
        rules=rules,
        mode="auto",
        budget=Budget(),
        lineup=runtime.lineup.name,
        simulated=True,
        pace=runtime.settings.speed,
        replay_fixes=replay,
        by="bench",
    )
    log = RunLog(run, runtime.writer)
    first = log.append(asked)
    await log.flush()
    means = RunServices(
        skill=pack,
        target=TargetThread(target),
        scanner=create_scanner(pack, target, runtime.settings.hosts_folder),
        seats=create_seats(runtime.lineup, runtime.bases, runtime.http, runtime.queues, traced=False),
        worker=runtime.name,
        history=StoredRunHistory(runtime.database, runtime.store, run),
    )
    await drive_run(Run(fold_events(first), log, means), NoOperator())
    await means.target.close()
    return run


async def played(
    lineup: Lineup, place: Path, asked: argparse.Namespace, hosts: int, at_once: int, replay: bool
) -> Round:
    rules = RULES[: asked.rules]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder) / "data", lineup=str(place), speed=asked.speed)
        async with open_runtime(settings, lineup) as runtime:
            await ready(runtime)
            room, runs = asyncio.Semaphore(at_once), []

            async def one(number: int) -> None:
                async with room:
                    runs.append(await worked(runtime, f"host-{number}", rules, replay=replay))

            began = time.monotonic()
            canary = 1 if replay and hosts > 1 else 0
            for number in range(canary):
                await one(number)
            async with asyncio.TaskGroup() as group:
                for number in range(canary, hosts):
                    group.create_task(one(number))
            seconds = time.monotonic() - began
            most = (
                await runtime.http.get(f"{runtime.bases['gemma-31b'][0].removesuffix('/v1')}/simulator/most")
            ).json()
            kinds = ("turn.started", "item.passed")
            events = [one.event for run in runs for one in runtime.store.read_events(run, kinds=kinds)]
    turns = [event for event in events if isinstance(event, TurnStarted)]
    return Round(
        hosts=hosts,
        at_once=at_once,
        replay=replay,
        seconds=seconds,
        passed=sum(isinstance(event, ItemPassed) for event in events),
        items=hosts * len(rules),
        waits=sorted(turn.waited_ms / 1000 for turn in turns),
        turns=len(turns),
        kv_most=most["kv_tokens"],
        kv_tokens=asked.kv,
        requests_most=most["requests"],
    )


async def ready(runtime: Runtime) -> None:
    """Loading is not hardening."""
    states = runtime.board.states
    while not all(name in states and states[name][1].state == "ready" for name in runtime.bases):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def share(waits: Sequence[float], part: float) -> float:
    return waits[min(len(waits) - 1, int(part * len(waits)))] if waits else 0.0


def row(one: Round, base: Round) -> str:
    cells = (
        one.hosts,
        one.at_once,
        "on" if one.replay else "off",
        f"{one.seconds:.1f}",
        f"{one.per_hour:.0f}",
        f"{one.per_hour / base.per_hour:.2f}",
        f"{one.passed} of {one.items}",
        one.turns,
        f"{statistics.median(one.waits) if one.waits else 0:.2f}",
        f"{share(one.waits, 0.99):.2f}",
        f"{one.waits[-1] if one.waits else 0:.2f}",
        one.requests_most,
        f"{one.kv_most:,} of {one.kv_tokens:,}",
    )
    return f"| {' | '.join(map(str, cells))} |"


HEAD = (
    "| hosts | concurrent | replay | s | hosts per hour | × one at a time | passed | turns | wait median, s | p99"
    " | longest | max. concurrent requests, 31B | max. KV tokens, 31B |"
)


def note(asked: argparse.Namespace) -> list[str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return [
        "# Many hosts on shared engines, simulated",
        "",
        (
            f"{datetime.now(UTC).date().isoformat()} · Temper {__version__}, Python {platform.python_version()},"
            f" {os.cpu_count()} cores, {memory:.0f} GiB, shared (load {load:.0f} at the end)"
        ),
        "",
        (
            f"SIMULATED engines at pace {asked.speed:g}: {SOURCE}. {asked.rules} rules per host; hosts are trees of"
            f" real files, laid out alike. `python bench/fleet.py {asked.words}`"
        ),
        "",
    ]


async def main_async(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = lineup_file(Path(folder), asked.kv)
        lineup = read_lineup(place)
        base = await played(lineup, place, asked, min(2, max(asked.hosts)), 1, replay=False)
        lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|", row(base, base)]
        print("\n".join(lines), flush=True)
        for hosts in asked.hosts:
            for replay in (False, True):
                if hosts > 1:
                    one = await played(lineup, place, asked, hosts, hosts, replay)
                    lines.append(row(one, base))
                    print(lines[-1], flush=True)
    if asked.write:
        (ROOT / "docs" / "measurements" / "fleet.md").write_text("\n".join([*note(asked), *lines, ""]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="1,8,40")
    parser.add_argument("--rules", type=int, default=6)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--kv", type=int, default=416_038, help="KV tokens of the large engine")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    asked.words = f"--hosts {asked.hosts} --rules {asked.rules} --speed {asked.speed:g} --kv {asked.kv}"
    asked.hosts = [int(one) for one in asked.hosts.split(",")]
    asyncio.run(main_async(asked))


if __name__ == "__main__":
    main()
