"""What a host, a model or a file says can neither steer a terminal nor write a line of its own into a log."""

import json
import logging
import re
import subprocess
import sys

import pytest

from app.cli.progress import ProgressPrinter, render_event
from app.cli.server_log import CommandLog, PlainFormatter
from app.cli.verify import verify_pack
from app.events.kinds import ItemStarted, PlanMade, RunQueued, SentryAlarm, TurnDelta, TurnFinished
from app.evidence import verify
from app.evidence.incoming.open_rules_of_foreign_assessment import read_starting_point
from app.loop.state import RunState
from app.skills.catalog import load_skill
from app.text.clean import clean_line
from tests.forkserver import temper

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
BAD = {
    "a title": "\x1b]0;owned\x07",
    "clear": "\x1b[2J\x1b[H",
    "one byte": "\x9b2J",
    "back": "\x08\x08\x08ok",
    "return": "\rok",
    "backwards": "\u202eko",
    "isolate": "\u2066x",
    "a link": "\x1b]8;;http://203.0.113.9\x1b\\x\x1b]8;;\x1b\\",
    "a line": "x\n  ✓ V-257985 passed",
    "a line apart": "x\u2028  ✓ V-257985 passed",
    "next line": "x\x85  ✓ V-257985 passed",
    "no width": "V-\u200b1",
    "markup": "[bold red]x[/]",
}


def forged(text):
    return any(row.startswith("  ✓") for row in text.split("\n"))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("make", ["plan", "item", "alarm", "note"])
def test_an_event_is_a_line_without_steering(make, bad):
    at = {"rule": "V-1", "attempt": 1}
    event = {
        "plan": lambda: PlanMade(**at, approach=bad, paths=(), steps=(), risk="", rollback="", validation=""),
        "item": lambda: ItemStarted(rule="V-1", title=bad, category="I"),
        "alarm": lambda: made(SentryAlarm, at, bad),
        "note": lambda: made(RunQueued, {}, bad),
    }[make]()
    said = render_event(event, RunState())
    if said is not None:
        assert not STEERING.search(said.plain)
        assert not forged(said.plain)


def made(kind, known, bad):
    """With the hostile text wherever the event takes text, and nothing where it takes anything else."""
    shape = {"str": bad, "tuple": (), "float": 0.0, "int": 0, "bool": False}
    needed = [
        (name, str(kind.__annotations__.get(name, "str")))
        for name in kind.__struct_fields__
        if name not in known and name in kind.__annotations__
    ]
    filled = {name: next((value for word, value in shape.items() if word in told), bad) for name, told in needed}
    return kind(**{**filled, **known})


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_thought_and_a_failure_are_shown_without_steering(bad, capsys):
    progress = ProgressPrinter("run")
    named = {"turn": "t", "role": "worker"}
    progress._print_turn_label("worker", "act", bad)
    for piece in bad:  # an escape that comes in pieces
        progress._print_thought("worker", TurnDelta(**named, channel="thought", text=piece, tokens=1).text)
    progress._end_thought()
    progress._print_turn_figures(
        TurnFinished(**named, purpose="act", outcome="died", detail=bad, thought="", answer="", seconds=1.0)
    )
    said = capsys.readouterr().out
    assert not STEERING.search(said)
    assert not forged(said)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_log_record_is_one_line_of_ours(bad):
    record = logging.LogRecord("temper", 40, "x.py", 1, "failed: %s", (bad,), (ValueError, ValueError(bad), None))
    vars(record)["reason"] = bad
    for formatter in (PlainFormatter("%(levelname)s %(message)s"), CommandLog()):
        rows = formatter.format(record).split("\n")
        assert not STEERING.search("\n".join(rows))
        assert [row for row in rows if not row.startswith("    ")] == rows[:1]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_pack_that_is_named_by_somebody_is_told_in_lines_of_ours(tmp_path, bad, capsys):
    (tmp_path / "manifest.json").write_text('{"files": []}')
    (tmp_path / bad.replace("/", "_")).write_text("")
    assert verify_pack(tmp_path, "") == 2
    inside = capsys.readouterr().out
    alone = subprocess.run(
        [sys.executable, "-I", verify.__file__, tmp_path], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert alone.stdout.count("\n") == 1
    for said in (inside, alone.stdout):
        assert said.startswith("does not hold: ")
        assert not STEERING.search(said)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_an_imported_name_is_told_and_noted_as_one_line(tmp_path, bad):
    file = tmp_path / "x.cklb"
    rules = [{"status": "open", "group_id": "V-257985"}, {"status": "open", "group_id": bad}]
    file.write_text(json.dumps({"stigs": [{"rules": rules}]}))
    start = read_starting_point(file, load_skill("stig"))
    for said in (start.summary_text, start.note_for_log, *start.unknown):
        assert "\n" not in said
        assert not STEERING.search(said)


def test_the_command_line_says_an_error_without_steering():
    """The hostile words come back in an error: there is no such file."""
    bad = "".join(BAD.values())
    said = temper("verify", f"{bad}.zip")
    assert said.returncode == 1
    assert said.stderr.startswith("temper: ")
    assert not STEERING.search(said.stderr)


def test_one_line_keeps_its_words():
    assert clean_line(" a\tb\n\nc\u202e d ", 100) == "a b c d"
