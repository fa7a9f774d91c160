"""What goes on beside the runs for as long as a process lives: webhooks, schedules, telemetry, tidying."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.background.schedules.keeper import Keeper
from app.background.telemetry.exporter import Teller
from app.background.tidying import keep_tidy
from app.background.webhooks.sender import Courier
from app.runtime.runtime import Worker


@asynccontextmanager
async def chores(worker: Worker) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        courier = Courier(worker.database, worker.store, worker.bus, lambda: worker.leads)
        courier.start()
        stack.push_async_callback(courier.close)
        keeper = Keeper(worker)
        keeper.start()
        stack.push_async_callback(keeper.close)
        if collector := worker.settings.otlp:
            teller = Teller(collector, worker.store, worker.bus, worker.http, socket.gethostname())
            teller.start()
            stack.push_async_callback(teller.close)
        if worker.settings.keep_days:
            tidying = asyncio.create_task(keep_tidy(worker), name="tidying")
            stack.callback(tidying.cancel)
        yield
