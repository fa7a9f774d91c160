"""Each data folder of an earlier version, as a copy that a test may do anything to."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config import Settings
from app.store.db import open_and_migrate_database
from tests.upgrade.__main__ import VERSIONS, unpacked


@dataclass(frozen=True)
class Older:
    name: str
    data: Path
    ended: tuple[str, ...]
    """Its runs that ended, first the one by itself, then the one in which a person answered."""
    cut: str
    """The one that was killed."""
    lines: dict[str, list[tuple[int, bytes, str]]]
    """What the log held, per run."""

    @property
    def settings(self) -> Settings:
        return Settings(data=self.data, database_url="")


@pytest.fixture(params=VERSIONS)
def older(request, tmp_path):
    return found(request.param, unpacked(request.param, tmp_path))


@pytest.fixture
def database(older):
    opened = open_and_migrate_database(older.data / "temper.sqlite")
    yield opened
    opened.dispose()


@pytest.fixture(scope="session")
def server(postgres_server):
    return postgres_server


def found(name, data):
    """Read without Temper, as nothing has been brought up yet."""
    file = sqlite3.connect(data / "temper.sqlite")
    assert file.execute("select version_num from alembic_version").fetchone() == (name,)
    runs = file.execute("select id, ended_at from run order by queued_at").fetchall()
    told = "select seq, line, hash from event where run = ? order by seq"
    lines = {run: file.execute(told, [run]).fetchall() for run, _ in runs}
    file.close()
    [cut] = [run for run, ended_at in runs if ended_at is None]
    return Older(name, data, tuple(run for run, ended_at in runs if ended_at), cut, lines)
