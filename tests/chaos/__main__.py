"""Faults of every kind at moments of chance under a server at work, and after each what must hold is looked at.

python -m tests.chaos [--faults 60] [--seed N] [--postgres] [--only "killed"]
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import httpx

from tests.chaos.faults import FAULTS, Ground, Shim
from tests.chaos.held import Held
from tests.postgres import FOR_SPEED, new_database, postgres
from tests.served import Server, served

RULES = ["V-257985", "V-257996", "V-258074", "V-258106", "V-257981", "V-258107", "V-257984", "V-258041"]
SPEED = "25"
RESUMED_WITHIN = 5.0


class Storm:
    def __init__(self, data: Path, address: str, seed: int) -> None:
        self._data, self._address, self._dice = data, address, random.Random(seed)
        self.shim = Shim(data.parent)
        self.place: Path | str = address or data / "temper.sqlite"
        data.mkdir()
        self.held = Held(self.place, data)
        self.resumed: list[float] = []
        self.struck: Counter[str] = Counter()

    def rage(self, faults: list[str]) -> None:
        waiting = list(faults)
        self._dice.shuffle(waiting)
        while waiting:
            self._serve(waiting)
        with self._server() as server:
            self._work(server)
            while run := self.held.unended():
                self.held.moves_on(run, self.held.head(run))
        self.held.check()
        self.held.host()

    def _serve(self, waiting: list[str]) -> None:
        """Until a fault ends the server, or none is left."""
        cut_off = self.held.unended()
        stood = self.held.head(cut_off) if cut_off else 0
        with self._server() as server:
            if cut_off:
                self.resumed.append(self.held.moves_on(cut_off, stood))
            while waiting and server.process.poll() is None:
                self._strike(server, waiting.pop())
            said = server.output()
        for word in ("Traceback", "fault of ours", "internal error"):
            assert word not in said, said[-4000:]

    def _strike(self, server: Server, fault: str) -> None:
        run = self._work(server)
        time.sleep(self._dice.uniform(0, 1.2))
        FAULTS[fault](Ground(server, self.shim, self.place, self._dice))
        self.struck[fault] += 1
        if server.process.poll() is None:
            self.held.moves_on(run, self.held.head(run))
            for path in ("/", "/ops", f"/runs/{run}", f"/api/v1/runs/{run}"):
                answer = httpx.get(server.url + path, timeout=30)
                assert answer.status_code == httpx.codes.OK, f"{path} after {fault}: {answer.text[-600:]}"
        self.held.check()

    def _work(self, server: Server) -> str:
        """The run in hand, or a new one."""
        if run := self.held.unended():
            return run
        rules = self._dice.sample(RULES, 3)
        order = {"host": "fixture", "rules": rules, "mode": "auto"}
        answer = httpx.post(f"{server.url}/api/v1/runs", json=order, timeout=30)
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        return str(answer.json()["id"])

    def _server(self):
        environment = {**self.shim.environment, "TEMPER_DATABASE_URL": self._address}
        return served(self._data, "--speed", SPEED, environment=environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own, instead of SQLite")
    parser.add_argument("--only", choices=FAULTS, help="one kind of fault")
    told = parser.parse_args()
    kinds = [told.only] if told.only else list(FAULTS)
    faults = [kinds[number % len(kinds)] for number in range(told.faults)]
    print(f"seed {told.seed}, {'PostgreSQL' if told.postgres else 'SQLite'}", flush=True)
    with tempfile.TemporaryDirectory() as folder, postgres(*FOR_SPEED) if told.postgres else nullcontext() as server:
        address = new_database(server.address) if server else ""
        storm = Storm(Path(folder) / "data", address, told.seed)
        try:
            storm.rage(faults)
        except BaseException:
            kept = Path(tempfile.mkdtemp(prefix="temper-chaos-"))
            storm.held.keep(kept)
            Path(folder).rename(kept / "left")
            Path(folder).mkdir()
            print(f"after {dict(storm.struck)}; what is left is in {kept}", file=sys.stderr)
            raise
        told_of = ", ".join(f"{count} × {fault}" for fault, count in sorted(storm.struck.items()))
        print(f"held through {sum(storm.struck.values())} faults ({told_of})")
        print(f"{len(storm.held.runs())} runs, {storm.held.events()} events, none lost, none doubled")
        if storm.resumed:
            print(
                f"went on after a death within {max(storm.resumed):.2f} s of being served, {len(storm.resumed)} times"
            )
            assert max(storm.resumed) < RESUMED_WITHIN
        storm.held.close()


if __name__ == "__main__":
    main()
