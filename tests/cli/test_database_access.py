"""A command that only reads makes no database where there is none, and says so."""

import json

import pytest
from sqlmodel import Session
from typer.testing import CliRunner

from app.__main__ import app
from app.cli.database_access import resolve_rollout_id
from app.errors import BadInput, Rejected
from app.store.db import open_and_migrate_database
from app.store.rollouts import RolloutRow

LISTS = ("runs", "schedule list", "nodes", "admin list", "token list")
OF_ONE = (
    *("verify x", "verify audit", "evidence x", "stop x", "approve x", "export-trajectory x", "tidy --older-than 1"),
    "key",
)


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TEMPER_DATABASE_URL", raising=False)
    return lambda words: CliRunner().invoke(app, words.split())


@pytest.mark.parametrize("words", [*LISTS, "host list"])
def test_a_list_of_an_empty_folder_is_empty_and_leaves_it_so(typed, tmp_path, words):
    assert typed(words).exit_code == 0
    json.loads(typed(f"{words} --json").stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", LISTS)
def test_it_says_what_to_do(typed, words):
    assert typed(words).stdout.startswith("There is nothing in data yet: start a run")
    assert json.loads(typed(f"{words} --json").stdout) == []


@pytest.mark.parametrize("words", OF_ONE)
def test_what_is_asked_of_a_run_in_an_empty_folder_is_refused(typed, tmp_path, words):
    refused = typed(words).exception
    assert isinstance(refused, BadInput), refused
    assert "nothing in data yet" in str(refused)
    assert list(tmp_path.iterdir()) == []


def test_a_rollout_is_found_by_the_characters_that_tell_it_from_others(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    more = {"words": "all", "hosts": 1, "state": "running", "reason": "", "mode": "auto", "skill": "stig", "note": ""}
    with Session(database) as session, session.begin():
        session.add_all(RolloutRow(id=name, simulated=True, by="ada", asked_at=1.0, **more) for name in ("ab1", "ac2"))
    assert resolve_rollout_id(database, "ac") == "ac2"
    with pytest.raises(BadInput, match="give more characters of the id"):
        resolve_rollout_id(database, "a")
    with pytest.raises(Rejected, match="there is no rollout 'b'"):
        resolve_rollout_id(database, "b")
    database.dispose()
