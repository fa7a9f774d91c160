"""A command that only reads makes no database where there is none, and says so."""

import json

import pytest
from typer.testing import CliRunner

from app.__main__ import app
from app.errors import BadInput

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
