"""One engine replica that we start and watch until it ends. A crashed replica is not restarted."""

import asyncio
import logging
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from app.engines.client import EngineClient
from app.engines.cold_start_progress import ColdStart, LoadHistory, apply_log_line, estimate_share_and_time_left
from app.engines.doctor.fatal_lines import FatalCause, match_fatal_line
from app.engines.launch import process_search
from app.engines.launch.launch_command import MARK, LaunchCommand, format_container_name
from app.engines.launch.log_tail import LogTail
from app.lineups.model import Engine

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
END_SECONDS = 30.0

State = Literal["absent", "loading", "ready", "dead"]


@dataclass(frozen=True)
class LaunchStatus:
    state: State
    detail: str
    share: float | None = None
    eta_s: float | None = None


class LaunchedReplica:
    """A launched replica. `home` identifies the data folder; processes with its mark are ours."""

    def __init__(
        self, engine: Engine, replica: int, command: LaunchCommand, home: str, folder: Path, http: httpx.AsyncClient
    ) -> None:
        self.engine, self.replica, self.command = engine, replica, command
        self.log = folder / f"{engine.name}.{replica}.log"
        self.base = f"http://127.0.0.1:{command.port}/v1"
        self._prefix = f"{home}/{engine.name}/{replica}/"
        self._history = LoadHistory(folder / "history.jsonl")
        self._client = EngineClient(http, self.base)
        self._child: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._state: State = "absent"
        self._detail = "not started"
        self._fatal: FatalCause | None = None
        self.pid: int | None = None
        self.cold = ColdStart(0.0)
        self.adopted = False
        self.load_seconds: float | None = None
        """Seconds from its start until it was ready; None before that, and if it was adopted."""
        self.end_seconds = END_SECONDS
        """Seconds between SIGTERM and SIGKILL."""

    @property
    def name(self) -> str:
        many = len(self.engine.replicas) > 1
        return f"{self.engine.name} {self.replica + 1}" if many else self.engine.name

    def owns_mark(self, mark: str) -> bool:
        return mark.startswith(self._prefix)

    def list_pids(self) -> list[int]:
        return [one.pid for one in process_search.find_marked_processes(self._prefix)]

    def read_status(self) -> LaunchStatus:
        if self._state != "loading":
            return LaunchStatus(self._state, self._detail)
        earlier = self._history.list_comparable_loads(self.engine)
        share, eta = estimate_share_and_time_left(self.cold, earlier, time.time())
        return LaunchStatus("loading", self.cold.newest or "starting", share, eta)

    async def start(self) -> None:
        """Adopt a running process with the same command, or stop any other process in its place and start a new one."""
        async with self._turn:
            if self._state in ("loading", "ready"):
                return
            left = await asyncio.to_thread(process_search.find_marked_processes, self._prefix)
            same = [one for one in left if one.leads and one.mark == self._full_mark]
            if same:
                self._adopt_process(same[0])
                return
            if left:
                await self._stop_processes()
            if held := await asyncio.to_thread(process_search.find_foreign_listener, self.command.port, ()):
                self._fail_port_taken(held)
                return
            await self._spawn_process()

    async def stop(self) -> None:
        async with self._turn:
            await self._cancel_watching()
            await self._stop_processes()
            self._state, self._detail = "absent", "stopped"

    @property
    def _full_mark(self) -> str:
        return self._prefix + self.command.digest

    async def _spawn_process(self) -> None:
        self._reset_state(time.time())
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
                    env={**os.environ, **self.command.env, MARK: self._full_mark},
                )
        except OSError as exc:
            cause = f"{self.command.argv[0]} cannot be started: {exc.strerror}"
            self._mark_dead(cause, "give its path in the line-up's [launch] command")
            return
        self.pid = self._child.pid
        self._start_watching(self._child.pid)

    def _adopt_process(self, process: process_search.MarkedProcess) -> None:
        self._reset_state(process.started)
        self.adopted, self.pid = True, process.pid
        log.info("engine taken over: it runs already", extra={"engine": self.name, "pid": process.pid})
        self._start_watching(process.pid)

    def _reset_state(self, started_at: float) -> None:
        self.cold, self._fatal, self.adopted = ColdStart(started_at), None, False
        self.load_seconds = None
        self._state, self._detail = "loading", ""

    def _start_watching(self, pid: int) -> None:
        self._watching = asyncio.create_task(self._track_state_until_process_ends(pid), name=f"engine {self.name}")

    async def _track_state_until_process_ends(self, pid: int) -> None:
        tail = LogTail(self.log)
        while True:
            if self._state == "loading" and (held := await asyncio.to_thread(self._find_foreign_listener)):
                await self._kill_for_taken_port(held)
                return
            living = await asyncio.to_thread(process_search.is_alive, pid)
            if self._apply_any_new_log_lines(tail, ended=not living) and not living:
                continue  # the cause may be further down
            if not living:
                await self._mark_dead_after_exit()
                return
            if self._state == "loading" and await self._is_serving():
                self._apply_any_new_log_lines(tail)  # lines logged before the first answer belong to the cold start
                if not self.adopted:  # it may have served for hours
                    self.load_seconds = time.time() - self.cold.started
                    self._history.add(self.engine, self.cold, self.load_seconds)
                self._state, self._detail = "ready", ""
            await asyncio.sleep(LOOK_EVERY)

    async def _is_serving(self) -> bool:
        """Return True if the engine answers and owns its port; checked after the answer, since ports can be shared."""
        answered = await self._client.can_generate(self.engine.wire_name)
        return answered and not await asyncio.to_thread(self._find_foreign_listener)

    def _find_foreign_listener(self) -> str:
        """Describe a foreign listener on our port. Skip containers, whose processes have no mark of ours."""
        in_container = self.engine.launch and self.engine.launch.image
        return "" if in_container else process_search.find_foreign_listener(self.command.port, self.list_pids())

    async def _kill_for_taken_port(self, listener: str) -> None:
        await asyncio.to_thread(process_search.signal_marked_processes, self._prefix, signal.SIGKILL)
        if self._child:
            await self._child.wait()
        self._fail_port_taken(listener)

    def _apply_any_new_log_lines(self, tail: LogTail, *, ended: bool = False) -> bool:
        """Apply the next new lines; return False if there were none."""
        now, lines = time.time(), tail.read_new_lines(ended=ended)
        for line in lines:
            self.cold = apply_log_line(self.cold, line, now)
            if self._fatal is None:
                self._fatal = match_fatal_line(line)
        return bool(lines)

    async def _mark_dead_after_exit(self) -> None:
        """Record why the engine ended by itself and kill its remaining processes to free the GPUs."""
        code = await self._child.wait() if self._child else None
        await asyncio.to_thread(process_search.signal_marked_processes, self._prefix, signal.SIGKILL)
        how = f"it ended by itself{'' if code is None else f' with code {code}'}"
        when = "while it loaded" if self._state == "loading" else "while it served"
        if self._fatal:
            self._mark_dead(f"{self._fatal.says} ({how} {when})", self._fatal.fix)
        else:
            self._mark_dead(f"{how} {when}, and its log names no cause that is known", f"read {self.log}")

    def _fail_port_taken(self, listener: str) -> None:
        self._mark_dead(
            f"port {self.command.port}, which the line-up gives to {self.name}, is held by another program: {listener}",
            "end that, or give the engine another port under [launch] in a copy of the line-up",
        )

    def _mark_dead(self, cause: str, fix: str) -> None:
        self._state, self._detail = "dead", f"{cause}. {fix[:1].upper()}{fix[1:]}."
        log.error("engine failed", extra={"engine": self.name, "reason": self._detail})

    async def _cancel_watching(self) -> None:
        if self._watching:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None

    async def _stop_processes(self) -> None:
        if self.engine.launch and self.engine.launch.image:
            await self._stop_container()
        await process_search.end_marked_processes(self._prefix, self.end_seconds)
        if self._child:
            await self._child.wait()
            self._child = None

    async def _stop_container(self) -> None:
        words = [self.command.argv[0], "stop", format_container_name(self.engine, self.replica)]
        quiet = asyncio.subprocess.DEVNULL
        try:
            stopping = await asyncio.create_subprocess_exec(*words, stdout=quiet, stderr=quiet)
            await stopping.wait()
        except OSError:
            return
