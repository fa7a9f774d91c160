"""The file of who has to say yes: looked at before anybody goes by it, and as the server starts."""

import json

import pytest
from typer.testing import CliRunner

from app.__main__ import app
from app.cli.runtime_opening import open_runtime
from app.config import Settings
from app.errors import BadInput
from app.lineups.reader import read_lineup, require_lineup_path
from tests.runs.doors import house
from tests.runs.test_approval_answer import QUEUED, RULE, UNTIL_IT_WAITS, asks

FILE = 'otherwise = 1\n[[rule]]\ncategory = ["I"]\npeople = 2\n[[rule]]\ncategory = ["I"]\npeople = 1\n'


def test_the_table_says_who_and_by_which_line(tmp_path):
    (tmp_path / "a.toml").write_text(FILE)
    done = CliRunner().invoke(app, ["approvals", "check", str(tmp_path / "a.toml")])
    assert done.exit_code == 0, done.output
    assert "2 (line 2)" in done.output
    assert "line 5 never applies" in done.output
    told = CliRunner().invoke(app, ["approvals", "check", str(tmp_path / "a.toml"), "--json"])
    assert '"cat_i": "2 (line 2)"' in told.output


def test_the_parameters_are_listed_before_there_is_a_database_and_none_is_made(tmp_path):
    done = CliRunner().invoke(app, ["parameter", "list", "--data", str(tmp_path / "data"), "--json"])
    assert {one["set_for"] for one in json.loads(done.output)} == {"default"}
    assert not (tmp_path / "data").exists()


async def test_nothing_starts_with_a_file_that_cannot_be_gone_by(tmp_path):
    lineup = read_lineup(require_lineup_path("simulated"))
    (tmp_path / "two.toml").write_text(FILE)
    (tmp_path / "odd.toml").write_text("otherwise = 9")
    for name, says in (("none.toml", "cannot be read"), ("odd.toml", "0, 1 or 2"), ("two.toml", "--sign-in")):
        settings = Settings(data=tmp_path / "data", approvals=str(tmp_path / name))
        with pytest.raises(BadInput, match=says):
            async with open_runtime(settings, lineup):
                pass
    assert not (tmp_path / "data").exists()


async def test_the_inbox_lists_what_waits(tmp_path):
    async with house(tmp_path / "data") as made:
        asked = ["inbox", "--data", str(tmp_path / "data"), "--json"]
        assert json.loads(CliRunner().invoke(app, asked).output) == []
        made.append("r1", QUEUED, *UNTIL_IT_WAITS, asks())
        (one,) = json.loads(CliRunner().invoke(app, asked).output)
    assert (one["kind"], one["run"], one["why"]) == ("approval", "r1", f"Run r1 waits for your approval of {RULE}.")
