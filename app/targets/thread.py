"""A host beside the event loop: its target blocks, and on a thread of its own nobody else waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from app.targets.target import Target

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
            raise

    async def close(self) -> None:
        try:
            await self.do(lambda target: target.close())
        finally:
            self._thread.shutdown(wait=False)
