"""One real run for all: simulated engines, the fixture, and each way that an item may end."""

import pytest

from app.evidence.pack import build_pack
from app.evidence.run_record import read_run_record
from app.evidence.signing_key import derive_key
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.forkserver import temper
from tests.once import built_once

SEED = bytes(range(32))
KEY = derive_key(SEED)
"""That of the Temper that made the packs which tests check."""
RULES = "V-257984,V-257985,V-257981,V-258106,V-258229,V-257934"


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """The data folder, and the run in it."""
    data = built_once(tmp_path_factory, "played", _play) / "data"
    database = open_and_migrate_database(data / "temper.sqlite")
    with database.connect() as connection:
        (run,) = connection.exec_driver_sql("select id from run").scalars()
    database.dispose()
    return data, run


def _play(folder):
    (folder / "data" / "keys").mkdir(parents=True)
    (folder / "data" / "keys" / "signing.key").write_text(f"{SEED.hex()}\n")
    done = temper("run", "--data", folder / "data", "--speed", "0", "--rules", RULES, "--note", "=of an afternoon")
    assert done.returncode == 2, done.stderr


@pytest.fixture(scope="session")
def log(played):
    data, run = played
    database = open_and_migrate_database(data / "temper.sqlite")
    yield list(EventStore(database).read_events(run))
    database.dispose()


@pytest.fixture(scope="session")
def case(log):
    return read_run_record(log)


@pytest.fixture(scope="session")
def archive(log):
    return build_pack(log, KEY)
