"""What the terminal lists, for people and as JSON: the same rows."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlmodel import Session
from typer.testing import CliRunner

from app.__main__ import app
from app.cli.output import print_rows, write_output
from app.config import Settings
from app.errors import BadInput
from app.store import issued_credentials, people
from app.store.db import open_and_migrate_database
from app.store.models import RunRow

LISTS = ("host list", "scap list", "schedule list", "nodes", "runs", "skills", "lineups", "admin list", "token list")


@dataclass(frozen=True)
class Row:
    name: str
    at: datetime | None
    many: tuple[str, ...]
    held: bool
    rest_seconds: float | None


ROWS = [Row("a\x1b[2J", datetime(2026, 1, 2, 3, 4, tzinfo=UTC), ("x", "y"), True, None), Row("b", None, (), False, 2.5)]


def test_a_table_has_a_line_for_a_row_and_nothing_that_moves_the_cursor(capsys):
    print_rows(ROWS, "nobody", as_json=False)
    head, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["name", "at", "many", "held", "rest", "seconds"]
    assert first == ["a", "2026-01-02", "03:04", "UTC", "x,", "y", "yes", "—"]
    assert second == ["b", "—", "—", "no", "2"]
    print_rows([], "nobody", as_json=False)
    assert capsys.readouterr().out == "nobody\n"


def test_json_has_the_same_rows_in_ascii(capsys):
    print_rows([*ROWS, Row("\u202e", None, (), True, 1.0)], "nobody", as_json=True)
    said = capsys.readouterr().out
    assert said.isascii()
    assert "\x1b" not in said
    first, second, third = json.loads(said)
    assert first == {
        "name": "a\x1b[2J", "at": "2026-01-02T03:04:00Z", "many": ["x", "y"], "held": True, "rest_seconds": None,
    }  # fmt: skip
    assert (second["rest_seconds"], third["name"]) == (2.5, "\u202e")
    print_rows([], "nobody", as_json=True)
    assert json.loads(capsys.readouterr().out) == []


@pytest.fixture
def typed(tmp_path):
    def said(command, *words):
        place = [] if command in ("skills", "lineups", "scap list") else ["--data", str(tmp_path)]
        done = CliRunner().invoke(app, [*command.split(), *place, *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    settings = Settings(data=tmp_path, database_url="")
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session, session.begin():
        people.add_person(session, people.build_person("ada", "admin", "a" * 12))
        issued_credentials.issue_credential(session, person="ada", right="viewer", kind="token", label="ci", seconds=60)
        issued_credentials.issue_credential(session, person="ada", right="viewer", kind="session", label="", seconds=60)
        session.add(
            RunRow(
                id="abcd", host="fixture", state="finished", mode="auto", skill="stig", lineup="simulated",
                simulated=True, note="", queued_at=1.0,
            )
        )  # fmt: skip
    database.dispose()
    return said


@pytest.mark.parametrize("command", LISTS)
def test_every_list_is_a_table_or_json_of_the_same_rows(typed, command, monkeypatch):
    monkeypatch.delenv("TEMPER_DATABASE_URL", raising=False)
    rows = json.loads(typed(command, "--json"))
    table = typed(command).splitlines()
    assert len(table) == len(rows) + 1, table
    for row, line in zip(rows, table[1:], strict=False):
        assert str(next(iter(row.values()))) in line


def test_what_is_listed(typed):
    (person,) = json.loads(typed("admin list", "--json"))
    assert (person["person"], person["right"], person["signs_in_by"]) == ("ada", "admin", "password")
    (token,) = json.loads(typed("token list", "--json"))
    assert (token["label"], token["kind"], token["run"]) == ("ci", "token", None)
    (run,) = json.loads(typed("runs", "--json"))
    assert (run["run"], run["state"], run["queued_at"], run["ended_at"]) == (
        "abcd", "finished", "1970-01-01T00:00:01Z", None,
    )  # fmt: skip
    assert json.loads(typed("runs", "--json", "--state", "failed")) == []
    assert {one["skill"]: one["mode"] for one in json.loads(typed("skills", "--json"))}["drift"] == "dry-run"
    assert {one["lineup"]: one["simulated"] for one in json.loads(typed("lineups", "--json"))}["simulated"] is True
    assert [one["host"] for one in json.loads(typed("host list", "--json"))] == ["fixture"]


def test_it_has_the_usual_name_unless_another_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_output([b"one"], "", "usual.zip")
    write_output([b"two"], "other.zip", "usual.zip")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"usual.zip": b"one", "other.zip": b"two"}
    assert capsys.readouterr().out == "usual.zip, 3 bytes\nother.zip, 3 bytes\n"


def test_a_dash_is_standard_output_and_nothing_else_is_said(capfdbinary):
    write_output([b"\x00bytes"], "-", "usual.zip")
    assert capfdbinary.readouterr().out == b"\x00bytes"


def test_a_place_that_takes_nothing_is_named_with_what_helps(tmp_path):
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path} cannot be written: Is a directory. Choose another")):
        write_output([b"one"], str(tmp_path), "usual.zip")
