"""Start and stop a process's background tasks: webhooks, schedules, rollouts, telemetry and tidying."""

import asyncio
import logging
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.background.rollouts.rollout_controller import RolloutController
from app.background.schedules.scheduler import Scheduler
from app.background.telemetry.exporter import TelemetryExporter
from app.background.webhooks.sender import WebhookSender
from app.runtime.runtime import Runtime
from app.store.periodic_background_task_base import BackgroundTask

log = logging.getLogger(__name__)

DAY, LOOK_EVERY = 24 * 3600.0, 2.0


async def run_daily_tidy(runtime: Runtime) -> None:
    """Run `temper tidy` daily in a separate process, because packing a long run would slow down viewers."""
    words = ["tidy", "--older-than", f"{runtime.settings.keep_days:g}", "--data", str(runtime.settings.data)]
    done_at = float("-inf")
    while True:
        if runtime.is_leader and time.monotonic() - done_at >= DAY:
            try:
                await _run_temper_command(words)
            except OSError as exc:
                log.warning("tidy did not start: %s; Temper tries again in a day", exc)
            done_at = time.monotonic()
        await asyncio.sleep(LOOK_EVERY)


async def _run_temper_command(arguments: list[str]) -> None:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", *arguments, stdout=pipe, stderr=asyncio.subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()  # safe at any time: a run is either whole or shrunk
            await child.wait()
    if child.returncode:
        log.warning("tidy ended with %s: %s", child.returncode, output.decode("utf-8", "replace").strip()[-2000:])


@asynccontextmanager
async def open_background_tasks(runtime: Runtime) -> AsyncIterator[None]:
    database, bus, changes, clock = runtime.database, runtime.bus, runtime.changes.version, runtime.clock.now
    sender = WebhookSender(database, runtime.store, bus, lambda: runtime.is_leader, version=changes, clock=clock)
    tasks: list[BackgroundTask] = [sender, Scheduler(runtime), RolloutController(runtime)]
    if collector := runtime.settings.otlp:
        tasks.append(TelemetryExporter(collector, runtime.store, bus, runtime.http, socket.gethostname()))
    async with AsyncExitStack() as stack:
        for task in tasks:
            task.start()
            stack.push_async_callback(task.close)
        if runtime.settings.keep_days:
            tidying = asyncio.create_task(run_daily_tidy(runtime), name="tidying")
            stack.callback(tidying.cancel)
        yield
