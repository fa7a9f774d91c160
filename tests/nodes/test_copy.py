"""From a file to a server: everything, in the same chains, and a run that was cut off goes on there."""

import os
import subprocess

import pytest
from sqlmodel import Session, select

from app.config import Settings
from app.errors import BadInput, EnvironmentUnusable
from app.events.record import check_chain_and_get_head
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import CommandRow, RunRow
from app.store.sqlite_to_postgresql_copy import copy_sqlite_rows_and_verify_chains
from tests.crash import run_to_its_end
from tests.forkserver import Temper, temper
from tests.nodes.conftest import RULES
from tests.nodes.test_takeover import ends_as


def cut_off(data):
    """A run that was killed in its middle, in a file."""
    line = ["run", "--data", data, "--rules", RULES, "--speed", "10", "--json"]
    with Temper(*line, stdout=subprocess.PIPE) as child:
        assert child.stdout
        for _ in range(60):
            child.stdout.readline()
        child.kill()


def test_a_run_that_was_cut_off_is_copied_and_goes_on(shared, undisturbed):
    cut_off(shared.data)
    file = open_and_migrate_database(shared.data / "temper.sqlite")
    done = temper("db", "copy", "--data", shared.data, env=shared.environment)
    assert done.returncode == 0, done.stderr
    with Session(file) as session:
        [run] = session.exec(select(RunRow.id)).all()
    before, record = EventStore(file).read_lines(run), EventStore(file).read_lines("audit")
    file.dispose()
    assert f"{len(before) + len(record)} of them events" in " ".join(done.stdout.split())
    assert shared.store.read_lines(run) == before
    with shared.node(speed=20):
        shared.until(shared.ended)
    assert shared.store.read_lines(run)[: len(before)] == before
    ends_as(shared, undisturbed)


def test_nothing_is_copied_over_what_is_there_and_every_fault_is_a_sentence(shared, tmp_path, monkeypatch):
    run_to_its_end(tmp_path / "other", 0, 0, rules="V-257985")
    file = open_and_migrate_database(tmp_path / "other" / "temper.sqlite")
    with Session(file) as session:
        session.add_all(CommandRow(run="gone", verb="stop", by="p", at=1.0) for _ in range(3))
        session.commit()
    copied = copy_sqlite_rows_and_verify_chains(file, shared.database)
    assert copied.rows["run"] == 1
    assert copied.chains == 2  # the run's, and the record of what people did
    with pytest.raises(BadInput, match="use an empty database"):
        copy_sqlite_rows_and_verify_chains(file, shared.database)
    with Session(shared.database) as session:
        session.add(CommandRow(run="gone", verb="stop", by="p", at=2.0))
        session.commit()  # whose number must follow those that were copied
    with Session(file) as session:
        check_chain_and_get_head(shared.store.read_lines(session.exec(select(RunRow.id)).one()))
    file.dispose()
    monkeypatch.delenv("TEMPER_DATABASE_URL", raising=False)
    for environment, data, says in [
        ({}, tmp_path / "other", "no target database is set"),
        ({"TEMPER_DATABASE_URL": shared.address}, tmp_path / "none", "there is no"),
        ({"TEMPER_DATABASE_URL": "mysql://a/b"}, tmp_path / "other", "names mysql"),
    ]:
        done = temper("db", "copy", "--data", data, env={**os.environ, **environment})
        assert done.returncode == 1
        assert says in done.stderr
        assert "Traceback" not in done.stderr


def test_a_chain_that_does_not_hold_is_said(shared, tmp_path):
    run_to_its_end(tmp_path / "other", 0, 0, rules="V-257985")
    file = open_and_migrate_database(Settings(data=tmp_path / "other").database_path_or_url)
    with file.begin() as connection:
        connection.exec_driver_sql("update event set hash = 'x' where seq = 3")
    with pytest.raises(EnvironmentUnusable, match="is broken: event 3"):
        copy_sqlite_rows_and_verify_chains(file, shared.database)
    file.dispose()
