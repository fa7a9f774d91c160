import pytest
from sqlmodel import Session

from app.store.db import open_and_migrate_database


@pytest.fixture
def database(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield database
    database.dispose()


@pytest.fixture
def session(database):
    with Session(database) as session:
        yield session
