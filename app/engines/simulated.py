"""Starting the simulator as a child that cannot outlive us, and learning its ports."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.errors import Unusable

START_SECONDS = 20.0
END_SECONDS = 3.0


@asynccontextmanager
async def simulated(lineup: Path, engines: int, speed: float, log: Path) -> AsyncIterator[dict[str, tuple[str, ...]]]:
    """Engine name to base URLs, once every port listens."""
    command = [sys.executable, "-m", "app.engines.simulator", "--lineup", str(lineup), "--speed", str(speed)]
    command.append("--exit-with-parent")
    with log.open("ab") as errors:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            process_group=0,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        yield await _announced(child, engines, log)
    finally:
        await _end(child)


async def _announced(child: asyncio.subprocess.Process, engines: int, log: Path) -> dict[str, tuple[str, ...]]:
    assert child.stdout
    bases: dict[str, tuple[str, ...]] = {}
    try:
        async with asyncio.timeout(START_SECONDS):
            while len(bases) < engines:
                line = await child.stdout.readline()
                if not line:
                    raise Unusable(f"the simulator ended while it started; {log} says why")
                said = json.loads(line)
                bases[said["engine"]] = (f"http://127.0.0.1:{said['port']}/v1",)
    except TimeoutError as exc:
        raise Unusable(f"the simulator did not start in {START_SECONDS:.0f} s; {log} says why") from exc
    return bases


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.terminate()
        try:
            await asyncio.wait_for(child.wait(), END_SECONDS)
        except TimeoutError:
            child.kill()
            await child.wait()
