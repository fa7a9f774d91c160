"""The simulator as a child process that ends with its parent and keeps its ports across restarts."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.errors import EnvironmentUnusable

START_SECONDS = 20.0
END_SECONDS = 3.0


class SimulatorProcess:
    """One process group that serves every simulated engine of a line-up."""

    def __init__(self, lineup: Path, engines: Sequence[str], speed: float, log: Path) -> None:
        self._lineup, self._engines, self._speed, self.log = lineup, engines, speed, log
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self.bases: dict[str, tuple[str, ...]] = {}
        """Engine name to base URLs, set by the first start."""

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.returncode is None

    async def start(self) -> None:
        """Start the simulator and return when every port listens. Raise an error if it ends or times out."""
        async with self._turn:
            if self.is_running:
                return
            with self.log.open("ab") as errors:
                self._child = await asyncio.create_subprocess_exec(
                    *self._build_command(),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=errors,
                    process_group=0,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
            try:
                self.bases = await self._read_announcements(self._child)
            except BaseException:
                await self._end_child()  # else the next start would find it running, and not read its ports
                raise

    async def stop(self) -> None:
        async with self._turn:
            await self._end_child()

    async def _end_child(self) -> None:
        if self._child is None or not self.is_running:
            return
        self._child.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._child.wait()
        except TimeoutError:
            self._child.kill()
            await self._child.wait()

    def _build_command(self) -> list[str]:
        words = ["--lineup", str(self._lineup), "--speed", str(self._speed), "--exit-with-parent"]
        if self.bases:
            ports = (self.bases[name][0].removesuffix("/v1").rsplit(":", 1)[1] for name in self._engines)
            words += ["--ports", ",".join(ports)]
        return [sys.executable, "-m", "app.engines.simulator", *words]

    async def _read_announcements(self, child: asyncio.subprocess.Process) -> dict[str, tuple[str, ...]]:
        assert child.stdout
        bases: dict[str, tuple[str, ...]] = {}
        try:
            async with asyncio.timeout(START_SECONDS):
                while len(bases) < len(self._engines):
                    line = await child.stdout.readline()
                    if not line:
                        raise EnvironmentUnusable(f"the simulator ended while it started; {self.log} says why")
                    said = json.loads(line)
                    bases[said["engine"]] = (f"http://127.0.0.1:{said['port']}/v1",)
        except TimeoutError as exc:
            raise EnvironmentUnusable(
                f"the simulator did not start in {START_SECONDS:.0f} s; {self.log} says why"
            ) from exc
        return bases


@asynccontextmanager
async def run_simulator(
    lineup: Path, engines: Sequence[str], speed: float, log: Path
) -> AsyncIterator[SimulatorProcess]:
    simulator = SimulatorProcess(lineup, engines, speed, log)
    try:
        await simulator.start()
        yield simulator
    finally:
        await simulator.stop()
