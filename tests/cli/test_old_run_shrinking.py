"""`temper tidy`: what is due, what is only said, and what is left when it is killed in the middle."""

import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest
from sqlmodel import Session, select

from app.cli.old_run_shrinking import DONE, LEFT, shrink_old_runs_and_delete_samples
from app.cli.verify import HOLDS, verify_run
from app.config import Settings
from app.events.kinds import GpuSampled
from app.events.record import MACHINE, build_recorded_event
from app.evidence.run_shrinking import read_evidence
from app.evidence.verify import check_pack_and_get_manifest, unpack_zip_packed_by_temper
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from tests.evidence.played import KEY
from tests.served import GLANCE, served

KILLED = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import Engine, event
from app.cli.old_run_shrinking import shrink_old_runs_and_delete_samples
from app.config import Settings

left = int(sys.argv[2])

@event.listens_for(Engine, "after_cursor_execute")
def count(connection, cursor, statement, *_):
    global left
    left -= statement.startswith(("INSERT", "UPDATE", "DELETE"))
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)

shrink_old_runs_and_delete_samples(Settings(data=Path(sys.argv[1])), 0, dry_run=False)
"""


@pytest.fixture
def settings(tmp_path, played):
    shutil.copytree(played[0], tmp_path / "data")
    return Settings(data=tmp_path / "data")


def events(settings):
    database = open_and_migrate_database(settings.database_path_or_url)
    try:
        with Session(database) as session:
            row = session.exec(select(RunRow)).one()
        return row, len(EventStore(database).read_lines(row.id))
    finally:
        database.dispose()


def test_only_runs_older_than_that_are_shrunk(settings, log, capsys):
    assert shrink_old_runs_and_delete_samples(settings, 1, dry_run=False) == DONE
    assert "runs shrunk: 0" in capsys.readouterr().out
    row, left = events(settings)
    assert (row.shrunk_at, left) == (None, len(log))


def test_a_dry_run_says_it_and_does_nothing(settings, log, capsys):
    assert shrink_old_runs_and_delete_samples(settings, 0, dry_run=True) == DONE
    row, left = events(settings)
    assert f"would shrink run {row.id}" in capsys.readouterr().out
    assert (row.shrunk_at, left) == (None, len(log))


def test_a_run_whose_log_does_not_hold_stays_whole(settings, log, capsys):
    database = open_and_migrate_database(settings.database_path_or_url)
    with database.begin() as connection:
        connection.exec_driver_sql("update event set hash = 'x' where seq = 7")
    database.dispose()
    assert shrink_old_runs_and_delete_samples(settings, 0, dry_run=False) == LEFT
    assert "was not shrunk" in capsys.readouterr().out
    row, left = events(settings)
    assert (row.shrunk_at, left) == (None, len(log))


def test_old_samples_go_and_new_ones_stay(settings):
    database = open_and_migrate_database(settings.database_path_or_url)
    store, now = EventStore(database), time.time()
    first = store.read_last_sample_seq() + 1
    figures = dict.fromkeys(("used_gib", "total_gib", "utilization", "power_w", "temperature_c"))
    sample = GpuSampled(gpu=0, name="g", simulated=True, **figures)
    store.append(
        [build_recorded_event(MACHINE, first + n, now - age, sample, "") for n, age in enumerate((9e5, 8e5, 1.0))]
    )
    shrink_old_runs_and_delete_samples(settings, 5, dry_run=False)
    assert [one.seq for one in store.read_samples_after(first - 1)] == [first + 2]
    database.dispose()


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 9])
def test_killed_at_any_write_a_run_is_whole_or_shrunk_and_the_next_one_ends_it(settings, log, archive, capsys, writes):
    command = [sys.executable, "-c", KILLED, str(settings.data), str(writes)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -signal.SIGKILL
    row, left = events(settings)
    assert (row.shrunk_at is None) == (left == len(log)) or writes == 4  # shrunk, and nothing gone yet
    database = open_and_migrate_database(settings.database_path_or_url)
    for _ in range(2):
        assert verify_run(settings, row.id, log[-1].hash) == HOLDS
        assert read_evidence(database, row.id, KEY) == archive
        assert shrink_old_runs_and_delete_samples(settings, 0, dry_run=False) == DONE
    database.dispose()
    row, left = events(settings)
    assert row.shrunk_at
    assert left == sum(one.event.__struct_config__.tag != "turn.delta" for one in log)
    assert capsys.readouterr()


def test_a_server_with_keep_days_shrinks_what_is_old_and_its_page_and_api_say_so(settings, log):
    run = log[0].run
    with (
        served(settings.data, "--speed", "0", "--keep-days", "0.0000001") as server,
        httpx.Client(base_url=server.url) as http,
    ):
        address = f"/api/v1/runs/{run}"
        until = time.monotonic() + 60
        while not (shrunk_at := http.get(address).json()["shrunk_at"]):
            assert time.monotonic() < until, server.output()
            time.sleep(GLANCE)
        page = http.get(f"/runs/{run}").text
        assert f"This run was shrunk on {shrunk_at[:10]}" in page
        pack = http.get(f"{address}/evidence.zip").content
        assert check_pack_and_get_manifest(unpack_zip_packed_by_temper(pack), log[-1].hash)["events"] == len(log)
        assert http.get(f"{address}/checklist.cklb").status_code == 200
