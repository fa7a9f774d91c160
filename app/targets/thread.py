"""A host beside the event loop: its target blocks, and on a thread of its own nobody else waits for it."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from app.errors import Fenced, TemperError
from app.targets.target import Target

log = logging.getLogger("temper")

T = TypeVar("T")


class TargetThread:
    """The one way from the event loop to a host. One thing is done there at a time, in the order asked.

    The thread is not of the pool that all share: a host that takes minutes to answer holds up no log and no other host.
    """

    def __init__(self, target: Target) -> None:
        self.name, self.simulated = target.name, target.simulated
        self._target = target
        self._thread = ThreadPoolExecutor(1, f"host {target.name}")

    async def do(self, work: Callable[[Target], T]) -> T:
        """A caller that is cancelled waits for the end: no change may go on behind the back of its rollback."""
        doing = asyncio.get_running_loop().run_in_executor(self._thread, work, self._target)
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            while not doing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([doing])
            _heard(doing)
            raise

    async def close(self) -> None:
        try:
            await self.do(lambda target: target.close())
        finally:
            self._thread.shutdown(wait=False)


def _heard(done: asyncio.Future[T]) -> None:
    """Who was cancelled has no use for how it ended. That another node has the host by now was to be expected."""
    exc = None if done.cancelled() else done.exception()
    if exc is not None and not isinstance(exc, Fenced):
        log.warning(
            "what was let go of was not seen through: %s", exc, exc_info=None if isinstance(exc, TemperError) else exc
        )
