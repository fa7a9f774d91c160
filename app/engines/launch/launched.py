"""One engine replica that we start and watch until it ends. A crashed replica is not restarted."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from app.engines.coldstart import ColdStart, progress, told
from app.engines.doctor.fatal import Fatal, fatal
from app.engines.launch.command import MARK, LaunchCommand, container
from app.engines.launch.history import History
from app.engines.launch.port import stranger
from app.engines.launch.processes import Marked, alive, marked, signalled
from app.engines.launch.ready import answers
from app.engines.launch.tail import LogTail
from app.lineups.model import Engine

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
END_SECONDS = 30.0
KILL_SECONDS = 10.0

State = Literal["absent", "loading", "ready", "dead"]


@dataclass(frozen=True)
class LaunchLook:
    state: State
    detail: str
    share: float | None = None
    eta_s: float | None = None


class Launched:
    """A launched replica. `home` identifies the data folder; processes with its mark are ours."""

    def __init__(
        self, engine: Engine, replica: int, command: LaunchCommand, home: str, folder: Path, http: httpx.AsyncClient
    ) -> None:
        self.engine, self.replica, self.command = engine, replica, command
        self.log = folder / f"{engine.name}.{replica}.log"
        self.base = f"http://127.0.0.1:{command.port}/v1"
        self._prefix = f"{home}/{engine.name}/{replica}/"
        self._history = History(folder / "history.jsonl")
        self._http = http
        self._child: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._state: State = "absent"
        self._detail = "not started"
        self._fatal: Fatal | None = None
        self.pid: int | None = None
        self.cold = ColdStart(0.0)
        self.adopted = False
        self.end_seconds = END_SECONDS
        """Seconds between SIGTERM and SIGKILL."""

    @property
    def name(self) -> str:
        many = len(self.engine.replicas) > 1
        return f"{self.engine.name} {self.replica + 1}" if many else self.engine.name

    def owns(self, mark: str) -> bool:
        return mark.startswith(self._prefix)

    def pids(self) -> list[int]:
        return [one.pid for one in marked(self._prefix)]

    def look(self) -> LaunchLook:
        if self._state != "loading":
            return LaunchLook(self._state, self._detail)
        share, eta = progress(self.cold, self._history.loads(self.engine), time.time())
        return LaunchLook("loading", self.cold.newest or "starting", share, eta)

    async def start(self) -> None:
        """Adopt a running process with the same command, or stop any other process in its place and start a new one."""
        async with self._turn:
            if self._state in ("loading", "ready"):
                return
            left = await asyncio.to_thread(marked, self._prefix)
            same = [one for one in left if one.leads and one.mark == self._mark]
            if same:
                self._adopt(same[0])
                return
            if left:
                await self._end_all()
            if held := await asyncio.to_thread(stranger, self.command.port, ()):
                self._fail_held(held)
                return
            await self._spawn()

    async def stop(self) -> None:
        async with self._turn:
            await self._cease()
            await self._end_all()
            self._state, self._detail = "absent", "stopped"

    async def let_go(self) -> None:
        """Stop watching and leave the process running."""
        async with self._turn:
            await self._cease()

    @property
    def _mark(self) -> str:
        return self._prefix + self.command.digest

    async def _spawn(self) -> None:
        self._begin(time.time())
        if self.log.exists():
            self.log.replace(self.log.with_suffix(".log.before"))
        try:
            with self.log.open("wb") as out:
                self._child = await asyncio.create_subprocess_exec(
                    *self.command.argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    env={**os.environ, **self.command.env, MARK: self._mark},
                )
        except OSError as exc:
            program = self.command.argv[0]
            self._fail(
                f"{program} cannot be started: {exc.strerror}", "give its path in the line-up's [launch] command"
            )
            return
        self.pid = self._child.pid
        self._watch(self._child.pid)

    def _adopt(self, found: Marked) -> None:
        self._begin(found.started)
        self.adopted, self.pid = True, found.pid
        log.info("engine %s runs already as process %d: taken over", self.name, found.pid)
        self._watch(found.pid)

    def _begin(self, started: float) -> None:
        self.cold, self._fatal, self.adopted = ColdStart(started), None, False
        self._state, self._detail = "loading", ""

    def _watch(self, pid: int) -> None:
        self._watching = asyncio.create_task(self._follow(pid), name=f"engine {self.name}")

    async def _follow(self, pid: int) -> None:
        tail = LogTail(self.log)
        while True:
            if self._state == "loading" and (held := await asyncio.to_thread(self._stranger)):
                await self._give_way(held)
                return
            living = await asyncio.to_thread(alive, pid)
            self._hear(tail)
            if not living:
                await self._ended()
                return
            if self._state == "loading" and await self._serves():
                self._hear(tail)  # lines logged before the first answer belong to the cold start
                self._history.add(self.engine, self.cold, time.time() - self.cold.started)
                self._state, self._detail = "ready", ""
            await asyncio.sleep(LOOK_EVERY)

    async def _serves(self) -> bool:
        """Return True if the engine answers and owns its port; checked after the answer, since ports can be shared."""
        answered = await answers(self._http, self.base, self.engine.wire_name)
        return answered and not await asyncio.to_thread(self._stranger)

    def _stranger(self) -> str:
        """Describe a foreign listener on our port. Skip containers, whose processes have no mark of ours."""
        in_container = self.engine.launch and self.engine.launch.image
        return "" if in_container else stranger(self.command.port, self.pids())

    async def _give_way(self, held: str) -> None:
        await asyncio.to_thread(signalled, self._prefix, signal.SIGKILL)
        if self._child:
            await self._child.wait()
        self._fail_held(held)

    def _hear(self, tail: LogTail) -> None:
        now = time.time()
        for line in tail.new():
            self.cold = told(self.cold, line, now)
            if self._fatal is None:
                self._fatal = fatal(line)

    async def _ended(self) -> None:
        """Record why the engine ended by itself and kill its remaining processes to free the GPUs."""
        code = await self._child.wait() if self._child else None
        await asyncio.to_thread(signalled, self._prefix, signal.SIGKILL)
        how = f"it ended by itself{'' if code is None else f' with code {code}'}"
        when = "while it loaded" if self._state == "loading" else "while it served"
        if self._fatal:
            self._fail(f"{self._fatal.says} ({how} {when})", self._fatal.fix)
        else:
            self._fail(f"{how} {when}, and its log names no cause that is known", f"read {self.log}")

    def _fail_held(self, held: str) -> None:
        self._fail(
            f"port {self.command.port}, which the line-up gives to {self.name}, is held by another program: {held}",
            "end that, or give the engine another port under [launch] in a copy of the line-up",
        )

    def _fail(self, says: str, fix: str) -> None:
        self._state, self._detail = "dead", f"{says}. {fix[:1].upper()}{fix[1:]}."

    async def _cease(self) -> None:
        if self._watching:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None

    async def _end_all(self) -> None:
        if self.command.argv[1:2] == ("run",):
            await self._stop_container()
        await asyncio.to_thread(signalled, self._prefix, signal.SIGTERM)
        if not await self._gone(self.end_seconds):
            await asyncio.to_thread(signalled, self._prefix, signal.SIGKILL)
            await self._gone(KILL_SECONDS)
        if self._child:
            await self._child.wait()
            self._child = None

    async def _stop_container(self) -> None:
        words = [self.command.argv[0], "stop", container(self.engine, self.replica)]
        quiet = asyncio.subprocess.DEVNULL
        try:
            stopping = await asyncio.create_subprocess_exec(*words, stdout=quiet, stderr=quiet)
            await stopping.wait()
        except OSError:
            return

    async def _gone(self, seconds: float) -> bool:
        return await _comes_true(lambda: not marked(self._prefix), seconds)


async def _comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if await asyncio.to_thread(condition):
            return True
        await asyncio.sleep(0.1)
    return False
