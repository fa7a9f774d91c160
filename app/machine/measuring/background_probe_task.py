"""Runs one probe at a time in the background, started over HTTP."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from app.errors import TemperError
from app.loop.state import RunState
from app.machine.measuring.probe import EngineBusy, ProbeSubject, run_probe
from app.machine.measuring.probe_result import ProbeResult

log = logging.getLogger(__name__)


class ProbeRunner:
    def __init__(self, keep: Callable[[ProbeResult], None]) -> None:
        self._keep = keep
        self._task: asyncio.Task[None] | None = None
        self.step = ""
        """The step in progress, or the last one."""
        self.ended = ""
        """Why the first subject that failed did; empty if none failed."""

    @property
    def is_working(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self, subjects: Sequence[ProbeSubject]) -> None:
        """Start probing the subjects one after the other, and return at once. Raises EngineBusy while a probe runs."""
        if self.is_working:
            raise EngineBusy(f"A probe is under way ({self.step}): wait for its end.")
        self.step, self.ended = "", ""
        self._task = asyncio.create_task(self._probe_all(subjects), name="probe")

    async def wait_until_finished(self) -> None:
        if self._task:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _probe_all(self, subjects: Sequence[ProbeSubject]) -> None:
        for subject in subjects:
            try:
                probed = await run_probe(subject, self._set_step)
                await asyncio.to_thread(self._keep, probed)
            except TemperError as exc:
                self.ended = self.ended or str(exc)
            except Exception:
                log.exception("a probe failed by a fault of ours")
                self.ended = self.ended or "It failed by a fault of Temper's own: its log has the details."
            else:
                self.ended = self.ended or probed.problem

    def _set_step(self, step: str) -> None:
        self.step = step


def explain_run_blocking_probe(run_states: Iterable[RunState]) -> str:
    """Return a sentence that names a working run, or an empty string. Paused and waiting runs do not count."""
    for state in run_states:
        if state.status == "running" and state.idle_since is None:
            return f"Run {state.run} is working: pause it or wait for its end, then probe."
    return ""
