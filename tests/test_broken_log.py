"""A log that cannot be written any more, for good: the process says so and ends, and the next one goes on."""

import sqlite3

import httpx

from tests.served import served

TAKEN = "insert into event (run, seq, at, kind, line, hash) select run, max(seq) + 1, 0, 'x', x'', '' from event"


def test_the_process_ends_says_why_and_the_run_goes_on_when_it_is_started_again(tmp_path):
    data = tmp_path / "data"
    with served(data, "--speed", "1") as server:
        httpx.post(f"{server.url}/api/v1/runs", json={"host": "fixture", "rules": ["V-257820"]}).raise_for_status()
        server.wait_for_kind("turn.delta")
        database = sqlite3.connect(data / "temper.sqlite", timeout=10)
        with database:
            database.execute(TAKEN)  # where the next event belongs
        assert server.process.wait(timeout=30) == 1
        assert "Temper can no longer write its log: (sqlite3.IntegrityError)" in server.output()
        assert "Traceback" not in server.output()
        assert "insert into" not in server.output().lower()
        with database:
            database.execute("delete from event where kind = 'x'")
        database.close()
    with served(data, "--speed", "0") as server:
        server.wait_for_kind("run.finished")
