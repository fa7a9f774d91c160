"""Run a target's blocking calls on a thread of its own, off the event loop."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from app.errors import LeaseLost, TemperError, find_storage_fault
from app.targets.target import Target

log = logging.getLogger(__name__)

T = TypeVar("T")


class TargetThread:
    """Runs calls on a target one at a time, in order, from the event loop.

    Each host has its own thread: a host that takes minutes to answer delays no log and no other host.
    """

    def __init__(self, target: Target, expected: tuple[type[Exception], ...] = ()) -> None:
        """`expected`: errors from outside the host that its calls may raise, as of a database that is away."""
        self.name, self.simulated = target.name, target.simulated
        self._expected = expected
        self._target = target
        self._thread = ThreadPoolExecutor(1, f"host {target.name}")

    async def run_blocking(self, work: Callable[[Target], T]) -> T:
        """Run `work` on the host's thread. A cancelled caller waits too: no change may continue during its rollback.

        A fault of this machine's disk or folders raises StorageFault, whatever the target made of it.
        """
        doing = asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            while not doing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([doing])
            self._log_failure(doing)
            raise

    def _run(self, work: Callable[[Target], T]) -> T:
        try:
            return work(self._target)
        except (OSError, TemperError) as exc:
            if fault := find_storage_fault(exc):
                raise fault from exc
            raise

    async def close(self) -> None:
        try:
            await self.run_blocking(lambda target: target.close())
        finally:
            self._thread.shutdown(wait=False)

    def _log_failure(self, done: asyncio.Future[T]) -> None:
        """Log the exception of a call whose caller was cancelled. LeaseLost is expected then."""
        exc = None if done.cancelled() else done.exception()
        if exc is None or isinstance(exc, LeaseLost):
            return
        if isinstance(exc, self._expected):
            log.warning("a call to the host failed after its run had let go of it", extra={"error": type(exc).__name__})
        else:
            known = isinstance(exc, TemperError)
            log.warning("what was let go of was not seen through: %s", exc, exc_info=None if known else exc)
