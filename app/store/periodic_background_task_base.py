"""Background tasks, once or periodic. A periodic task goes on whatever error a pass raises."""

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import ClassVar

from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error

log = logging.getLogger(__name__)


class BackgroundTask(ABC):
    """An asyncio task that runs from `start` to `close`."""

    name: ClassVar[str]
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run_forever(), name=self.name)

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    @abstractmethod
    async def _run_forever(self) -> None: ...


class PeriodicTask(BackgroundTask):
    every: ClassVar[float]
    """Seconds from the end of a pass to the next."""
    consequence: ClassVar[str]
    """What does not happen while the database is unavailable, for the log."""

    @abstractmethod
    async def _run_once(self) -> None: ...

    async def _wait_for_next(self) -> None:
        await asyncio.sleep(self.every)

    async def _run_forever(self) -> None:
        while True:
            try:
                await self._run_once()
            except DATABASE_UNAVAILABLE as exc:
                log.warning("%s: %s", self.consequence, shorten_database_error(exc))
            except Exception:
                log.exception("%s failed with an internal error", self.name)
            await self._wait_for_next()
