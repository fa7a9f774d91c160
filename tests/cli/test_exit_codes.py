"""What commands end with: one table in the docs, and a command line that is not understood apart from all else."""

import re
from pathlib import Path

import pytest
import typer

from app.__main__ import app
from app.cli import exit_codes
from tests.test_cli import temper

DOCS = (Path(__file__).parents[2] / "docs" / "exit-codes.md").read_text()


def commands(group, before=("temper",)):
    for one in group.registered_commands:
        yield " ".join((*before, one.name or one.callback.__name__.replace("_", "-")))
    for one in group.registered_groups:
        yield from commands(one.typer_instance, (*before, one.name) if one.name else before)


def test_the_table_names_every_code_and_only_commands_that_there_are():
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", DOCS, re.MULTILINE)}
    assert codes == {value for name, value in vars(exit_codes).items() if name.isupper()}
    there = set(commands(app))
    told = re.findall(r"^\| `(temper [a-z -]+)` \|", DOCS, re.MULTILINE)
    assert set(told) <= there, sorted(there)
    assert len(told) == len(set(told))


def test_a_command_that_says_it_may_end_with_2_is_in_the_table():
    """Its own help is what a person reads first."""
    help_of = {
        " ".join((*before, one.name or one.callback.__name__.replace("_", "-"))): one.callback.__doc__ or ""
        for group, before in groups(app)
        for one in group.registered_commands
    }
    say_so = {name for name, text in help_of.items() if re.search(r"\bExits with\b.*\b2\b", text)}
    assert say_so <= set(re.findall(r"^\| `(temper [a-z -]+)` \|", DOCS, re.MULTILINE))
    assert "temper run" in say_so


def groups(group, before=("temper",)):
    yield group, before
    for one in group.registered_groups:
        yield from groups(one.typer_instance, (*before, one.name) if isinstance(one.name, str) else before)


@pytest.mark.parametrize(
    "words",
    [
        *(["nope"], ["run", "--nope"], ["run", "--attempts", "many"], ["verify"], ["host", "nope"]),
        *(["verify", "x.zip", "--key"], ["verify", "x.zip", "--key="], ["verify", "x.zip", "--kei", "0" * 64]),
        *(["verify", "x.zip", "--key", "0" * 63], ["verify", "x.zip", "--head", ""]),
    ],
)
def test_a_command_line_that_is_not_understood_is_64_and_begins_nothing(words, tmp_path):
    done = temper(*words, cwd=tmp_path)
    assert done.returncode == exit_codes.USAGE, done.stderr
    assert done.stderr
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_done_is_1(tmp_path):
    assert temper("run", "--data", str(tmp_path), "--host", "moon").returncode == exit_codes.COULD_NOT


def test_a_group_is_a_typer():
    """The walk above looks at what typer keeps: where that changes, it is to fail and not to find nothing."""
    assert isinstance(app, typer.Typer)
    assert {"temper run", "temper host check", "temper score lineup"} <= set(commands(app))
