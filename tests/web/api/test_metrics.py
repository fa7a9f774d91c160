"""What /metrics says of the data folder, of backups and of a queue that nobody works on."""

import re
from contextlib import asynccontextmanager

import httpx
from sqlmodel import Session

from app.cli.command_runtime import load_lineup, open_runtime
from app.config import Settings
from app.main import create_app
from app.runtime.backup_record import record_backup
from app.store.models import RunRow


@asynccontextmanager
async def open_server(folder):
    settings = Settings(data=folder / "data", speed=0)
    async with open_runtime(settings, load_lineup(settings)) as runtime:
        transport = httpx.ASGITransport(create_app(runtime))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            yield runtime, http


async def read_figures(http):
    told = (await http.get("/metrics")).text
    return {name: float(value) for name, value in re.findall(r"^(temper_\w+) ([\d.e+-]+)$", told, re.MULTILINE)}


def queue_run(runtime, run, host, state):
    words = {"mode": "auto", "skill": "stig", "lineup": "simulated", "simulated": True, "note": ""}
    with Session(runtime.database) as session, session.begin():
        session.add(RunRow(id=run, host=host, state=state, queued_at=runtime.clock.now() - 120, **words))


async def test_backups_disk_and_stuck_queues_are_told(tmp_path):
    async with open_server(tmp_path) as (runtime, http):
        figures = await read_figures(http)
        assert "temper_backup_age_seconds" not in figures
        assert 0 <= figures["temper_data_disk_free_ratio"] <= 1
        assert figures["temper_nodes_lost"] == 0
        record_backup(runtime.settings.data, runtime.clock.now() - 3600)
        queue_run(runtime, "r1", "web1", "running")
        queue_run(runtime, "r2", "web1", "queued")
        figures = await read_figures(http)
        assert abs(figures["temper_backup_age_seconds"] - 3600) < 60
        assert figures["temper_queue_stuck_runs"] == 0, "the host's run is at work"
        queue_run(runtime, "r3", "web2", "queued")
        queue_run(runtime, "r4", "web2", "queued")
        assert (await read_figures(http))["temper_queue_stuck_runs"] == 1, "one for a host"
