"""Kills `temper run`, or the server, with -9 at random moments and starts it again, until the run has ended.

python -m tests.crash --kills 50 --seed 1 [--server]
"""

import argparse
import os
import random
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session, select

from app.events.record import check_chain_and_get_head, parse_line
from app.loop.state import RunState, fold_events
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from app.targets.host_registry import open_target
from tests.forkserver import Temper
from tests.served import served

LAST_SECONDS = 120


@dataclass(frozen=True)
class End:
    state: RunState
    starts: int
    tree: str
    pending: list[str]

    @property
    def outcomes(self) -> dict[str, tuple[str, int]]:
        """Per rule: how it ended, and at which attempt."""
        return {
            rule: (item.status, item.attempt.number if item.attempt else 0) for rule, item in self.state.items.items()
        }


def run_to_its_end(data: Path, kills: int, seed: int, *, rules: str = "", speed: float = 0, span: float = 1.5) -> End:
    dice, starts = random.Random(seed), 0
    command = ["run", "--data", data, "--json", "--speed", speed]
    if rules:
        command += ["--rules", rules]
    while True:
        starts += 1
        child = Temper(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert child.stdout
            child.stdout.readline()
            child.communicate(timeout=dice.uniform(0, span) if starts <= kills else LAST_SECONDS)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()
        else:
            assert child.returncode in (0, 2), f"temper run ended with {child.returncode}"
            return end_of(data, starts)


def served_to_its_end(data: Path, kills: int, seed: int, *, speed: float, span: float) -> End:
    dice = random.Random(seed)
    for _ in range(kills):
        with served(data, "--speed", str(speed), command="demo") as server:
            threading.Event().wait(dice.uniform(0, span))
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
    with served(data, "--speed", str(speed), command="demo") as server:
        server.wait_for_kind("run.finished")
    return end_of(data, kills + 1)


def end_of(data: Path, starts: int) -> End:
    database = open_and_migrate_database(data / "temper.sqlite")
    with Session(database) as session:
        runs = session.exec(select(RunRow.id)).all()
    assert len(runs) == 1, f"{len(runs)} runs where one was asked for"
    rows = EventStore(database).read_lines(runs[0])
    check_chain_and_get_head(rows)
    state = fold_events(parse_line(line, digest) for _, line, digest in rows)
    database.dispose()
    target = open_target("fixture", data / "hosts")
    return End(state, starts, target.compute_digest(), target.list_pending())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--speed", type=float, default=12)
    parser.add_argument("--span", type=float, default=3)
    parser.add_argument("--server", action="store_true", help="kill the server instead of temper run")
    told = parser.parse_args()
    disturb = served_to_its_end if told.server else run_to_its_end
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as rough:
        undisturbed = run_to_its_end(Path(calm), 0, told.seed)
        disturbed = disturb(Path(rough) / "data", told.kills, told.seed, speed=told.speed, span=told.span)
    same = undisturbed.outcomes == disturbed.outcomes
    tree = undisturbed.tree == disturbed.tree
    done = f"seed {told.seed}: {told.kills} kills, {disturbed.state.seq} events"
    print(f"{done}, same outcomes: {same}, same tree: {tree}")
    assert same
    assert tree
    assert not disturbed.pending


if __name__ == "__main__":
    main()
