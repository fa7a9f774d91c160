"""Background tasks, once or periodic. A periodic task goes on whatever error a pass raises."""

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import ClassVar

from app.store.db import AWAY, why

log = logging.getLogger(__name__)


class OwnTask(ABC):
    """An asyncio task that runs from `start` to `close`."""

    name: ClassVar[str]
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._go_on(), name=self.name)

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    @abstractmethod
    async def _go_on(self) -> None: ...


class Rounds(OwnTask):
    every: ClassVar[float]
    """Seconds from the end of a pass to the next."""
    without: ClassVar[str]
    """What does not happen while the database is unavailable, for the log."""

    @abstractmethod
    async def _round(self) -> None: ...

    async def _until_next(self) -> None:
        await asyncio.sleep(self.every)

    async def _go_on(self) -> None:
        while True:
            try:
                await self._round()
            except AWAY as exc:
                log.warning("%s: %s", self.without, why(exc))
            except Exception:
                log.exception("%s failed by a fault of ours", self.name)
            await self._until_next()
