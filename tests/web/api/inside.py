"""The application in this process, without a socket, over a run that has ended."""

import asyncio
from contextlib import asynccontextmanager

import httpx

from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.main import create_app
from app.runs.order import Order, create_run_request
from app.store import run_queries


@asynccontextmanager
async def finished(data):
    """An application on which a run has come to its end."""
    settings = Settings(data=data, speed=0)
    async with open_runtime(settings, load_lineup(settings)) as runtime:
        asked = create_run_request(Order(rules=("V-257820",), pace=0, by="ada"), runtime.lineup, settings.hosts_folder)
        run = await runtime.submit_run(asked)
        await wait_for_end(runtime, run)
        application = create_app(runtime)
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            yield runtime, application, run, http


async def wait_for_end(runtime, run):
    """Wait until a run has ended, and return its row."""
    while True:
        seen = runtime.bus.newest.get(run, 0)  # first: an event after the row was read must end the wait
        row = await asyncio.to_thread(runtime.read_run_row, run)
        if row.state not in run_queries.UNENDED:
            return row
        await runtime.bus.wait_for_event_after(run, seen)
