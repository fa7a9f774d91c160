"""Start and stop a process's background tasks: webhooks, schedules, rollouts, telemetry and tidying."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.background.rollouts.conductor import RolloutController
from app.background.schedules.keeper import Scheduler
from app.background.telemetry.exporter import TelemetryExporter
from app.background.tidying import run_daily_tidy
from app.background.webhooks.sender import WebhookSender
from app.runtime.runtime import Runtime


@asynccontextmanager
async def run_background_tasks(runtime: Runtime) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        sender = WebhookSender(
            runtime.database, runtime.store, runtime.bus, lambda: runtime.is_leader, version=runtime.changes.version
        )
        sender.start()
        stack.push_async_callback(sender.close)
        keeper = Scheduler(runtime)
        keeper.start()
        stack.push_async_callback(keeper.close)
        conductor = RolloutController(runtime)
        conductor.start()
        stack.push_async_callback(conductor.close)
        if collector := runtime.settings.otlp:
            teller = TelemetryExporter(collector, runtime.store, runtime.bus, runtime.http, socket.gethostname())
            teller.start()
            stack.push_async_callback(teller.close)
        if runtime.settings.keep_days:
            tidying = asyncio.create_task(run_daily_tidy(runtime), name="tidying")
            stack.callback(tidying.cancel)
        yield
