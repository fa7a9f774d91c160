"""Start and stop a process's background tasks: webhooks, schedules, rollouts, telemetry and tidying."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.background.rollouts.conductor import Conductor
from app.background.schedules.keeper import Keeper
from app.background.telemetry.exporter import Exporter
from app.background.tidying import keep_tidy
from app.background.webhooks.sender import Sender
from app.runtime.runtime import Runtime


@asynccontextmanager
async def background_tasks(runtime: Runtime) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        sender = Sender(
            runtime.database, runtime.store, runtime.bus, lambda: runtime.leads, version=runtime.changes.version
        )
        sender.start()
        stack.push_async_callback(sender.close)
        keeper = Keeper(runtime)
        keeper.start()
        stack.push_async_callback(keeper.close)
        conductor = Conductor(runtime)
        conductor.start()
        stack.push_async_callback(conductor.close)
        if collector := runtime.settings.otlp:
            teller = Exporter(collector, runtime.store, runtime.bus, runtime.http, socket.gethostname())
            teller.start()
            stack.push_async_callback(teller.close)
        if runtime.settings.keep_days:
            tidying = asyncio.create_task(keep_tidy(runtime), name="tidying")
            stack.callback(tidying.cancel)
        yield
