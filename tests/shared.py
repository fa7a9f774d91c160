"""Fixtures that tests of several folders share. The process that only hands out tests does without them."""

import os

import pytest

from tests.brought_up import bring_up, copied_from
from tests.evidence.played import archive, case, log, played
from tests.forkserver import BROUGHT_UP, simulators_too
from tests.once import built_once
from tests.postgres import postgres_folder, postgres_server

__all__ = ["archive", "case", "log", "played", "postgres_folder", "postgres_server"]


@pytest.fixture(scope="session", autouse=True)
def databases_brought_up(tmp_path_factory):
    folder = built_once(tmp_path_factory, "brought-up", bring_up)
    os.environ[BROUGHT_UP] = str(folder)
    copied_from(folder)
    simulators_too()
