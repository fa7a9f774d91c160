"""Answer by answer: what is read out of a role's words, and what is refused as no answer."""

import json

import pytest

from app.events.architect_questions_about_host import AskFile, AskUnit, AskVerdict
from app.events.event_field_types import AppendLine, Chmod, Reload, RemoveLine, ReplaceLine, WriteFile
from app.loop.answers import (
    BrokenAnswer,
    Inquiry,
    Plan,
    Reflection,
    Triage,
    Work,
    parse_actions_of_person,
    parse_answer,
)

PATH = "/etc/x"
LINES = {PATH: {1: "one", 3: "three words here"}}
RELOAD = {"do": "reload", "service": "sshd"}
REVIEW = {"explanation": "e", "veto": False}


def read(purpose, said, lines=None):
    return parse_answer(purpose, said if isinstance(said, str) else json.dumps(said), lines)


def act(*actions, **more):
    return read(
        "act", {"actions": [{"path": PATH, **one} if one["do"] != "reload" else one for one in actions], **more}, LINES
    )


READ = {
    "a plan that takes a proposal": ("plan", {"approach": "a", "candidate": 2}, Plan("a", candidate=2)),
    "a plan in full": (
        "plan",
        {"approach": "a", "paths": [PATH], "steps": ["s"], "risk": "r", "rollback": "b", "validation": "v"},
        Plan("a", (PATH,), ("s",), "r", "b", "v"),
    ),
    "questions": ("plan", {"questions": [{"ask": "verdict"}], "why": "w"}, Inquiry((AskVerdict(),), "w")),
    "a question twice": (
        "plan",
        {"questions": [{"ask": "verdict"}, {"ask": "unit", "unit": "sshd"}, {"ask": "verdict"}]},
        Inquiry((AskVerdict(), AskUnit(unit="sshd"))),
    ),
    "a question with a number": (
        "plan",
        {"questions": [{"ask": "file", "path": PATH, "first": 40}]},
        Inquiry((AskFile(path=PATH, first=40),)),
    ),
    "an alarm": ("triage", {"assessment": "a", "alarm": True, "reason": "r"}, Triage("a", alarm=True, reason="r")),
    "a reflection": (
        "reflect",
        {"mechanism": "m", "advice": "a", "decision": "PIVOT", "environment": "e"},
        Reflection("m", "a", "PIVOT", environment="e"),
    ),
    "controls within a list": (
        "plan",
        {"approach": "a", "paths": [PATH], "steps": ["a\x07b"]},
        Plan("a", (PATH,), ("ab",)),
    ),
    "a newline within words": ("plan", {"approach": "a\nb", "paths": [PATH]}, Plan("a\nb", (PATH,))),
    "no reload": ("act", {"actions": [RELOAD], "reload": "none"}, Work((Reload(service="sshd"),))),
    "a reload beside it": (
        "act",
        {"actions": [RELOAD], "reload": "auditd"},
        Work((Reload(service="sshd"), Reload(service="auditd"))),
    ),
    "a note": ("act", {"actions": [RELOAD], "note": "n\x07"}, Work((Reload(service="sshd"),), "n")),
}


@pytest.mark.parametrize("name", READ)
def test_what_fits_its_shape_is_read(name):
    purpose, said, answer = READ[name]
    assert read(purpose, said, LINES) == answer


def test_a_whole_object_is_looked_for_at_so_many_places_and_no_more():
    assert read("review", "{" * 63 + json.dumps(REVIEW), LINES) == read("review", REVIEW, LINES)
    with pytest.raises(BrokenAnswer, match="does not fit its shape"):
        read("review", "{" * 64 + json.dumps(REVIEW), LINES)


TAKEN = {
    "another text for a line": (
        {"do": "replace_line", "number": 1, "new": "two"},
        ReplaceLine(path=PATH, old="one", new="two"),
    ),
    "a line less": ({"do": "remove_line", "number": 3}, RemoveLine(path=PATH, line="three words here")),
    "a word less": (
        {"do": "drop_word", "number": 3, "word": "words"},
        ReplaceLine(path=PATH, old="three words here", new="three here"),
    ),
    "a line in words": ({"do": "remove_line", "line": "one"}, RemoveLine(path=PATH, line="one")),
    "the first line of many": ({"do": "append_line", "line": "a\nb"}, AppendLine(path=PATH, line="a")),
    "the longest line": ({"do": "append_line", "line": "x" * 512}, AppendLine(path=PATH, line="x" * 512)),
    "a file": ({"do": "write_file", "content": "a\x07\nb\n"}, WriteFile(path=PATH, content="a\nb\n")),
    "a mode": ({"do": "chmod", "mode": "0600"}, Chmod(path=PATH, mode="0600")),
}


@pytest.mark.parametrize("name", TAKEN)
def test_an_action_is_recorded_in_the_words_of_the_file(name):
    said, action = TAKEN[name]
    assert act(said).actions == (action,)
    assert act(said, said).actions == (action,), "what is said twice is meant once"


BROKEN = {
    "no path": ("plan", {"approach": "a"}, "a plan names at least one path"),
    "no path and no proposal": ("plan", {"approach": "a", "candidate": 0}, "a plan names at least one path"),
    "a proposal below none": ("plan", {"approach": "a", "candidate": -1}, "does not fit its shape"),
    "no question": ("plan", {"questions": []}, "does not fit its shape"),
    "a path that ends in a newline": ("plan", {"approach": "a", "paths": ["/etc/x\n"]}, "a newline|does not fit"),
    "paths that are none": ("plan", {"approach": "a", "paths": [PATH, 7]}, "does not fit its shape"),
    "a path alone": ("plan", {"approach": "a", "paths": PATH}, "does not fit its shape"),
    "too long": ("review", {**REVIEW, "explanation": "x" * 601}, "does not fit its shape"),
    "a list": ("review", [REVIEW["explanation"]], "no JSON object"),
    "another purpose": ("triage", REVIEW, "does not fit its shape"),
    "actions that are none": ("act", {"actions": 7}, "does not fit its shape"),
    "an action that is none": ("act", {"actions": ["reload"]}, "does not fit its shape"),
    "no object": ("review", "I agree.", "no JSON object in the answer"),
    "no end": ("review", '{"explanation": ', "does not end"),
    "the wrong way round": ("review", "} {", "does not end"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_fit_says_how(name):
    purpose, said, told = BROKEN[name]
    with pytest.raises(BrokenAnswer, match=told):
        read(purpose, said, LINES)


@pytest.mark.parametrize(
    ("path", "number"),
    [(PATH, 2), (PATH, 0), (PATH, "1"), (PATH, None), (PATH, [1]), ("/etc/y", 1), (None, 1), ([PATH], 1)],
)
def test_a_number_names_a_line_that_was_shown_or_none(path, number):
    said = {"actions": [{"do": "remove_line", "path": path, "number": number}]}
    with pytest.raises(BrokenAnswer, match="was shown no line"):
        read("act", said, LINES)


def test_a_person_writes_lines_in_words_and_every_character_of_them_counts():
    said = {"actions": [{"do": "append_line", "path": PATH, "line": "a"}, RELOAD]}
    assert parse_actions_of_person(json.dumps(said)) == (AppendLine(path=PATH, line="a"), Reload(service="sshd"))
    for name, value in (("line", "a\n"), ("line", "a\x07"), ("number", 1), ("path", "/etc/x\n")):
        wrong = {"actions": [{**said["actions"][0], name: value}]}
        with pytest.raises(BrokenAnswer):
            parse_actions_of_person(json.dumps(wrong))
    content = {"do": "write_file", "path": PATH, "content": "a\n"}
    assert parse_actions_of_person(json.dumps({"actions": [content]})) == (WriteFile(path=PATH, content="a\n"),)


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ('{"explanation": "1", "veto": false} {"explanation": "2", "veto": false}', "2"),
        ('{"explanation": "1", "veto": false} {"explanation": "2"}', "1"),
        ('{ {"explanation": "1", "veto": false, } ]', "1"),
        ("{" * 60 + '{"explanation": "1", "veto": false}', "1"),
        ('{"explanation": "1", "veto": false, "explanation": "2"}', "1"),
        ('<think>{a}</think> {"explanation": "1", "veto": false}', "1"),
    ],
)
def test_without_a_grammar_the_last_object_that_has_all_it_needs_counts(text, explanation):
    assert read("review", text).explanation == explanation


def test_after_many_beginnings_no_more_objects_are_looked_for():
    with pytest.raises(BrokenAnswer):
        read("review", "{" * 64 + json.dumps(REVIEW) + "}")


def test_a_warning_counts_if_it_is_given_as_one():
    assert not read("review", '{"explanation": "e", "veto": false, "veto": 1}').veto
    assert read("review", '{"explanation": "e", "veto": false, "veto": true}').veto
    assert (
        read("triage", '{"assessment": "a", "alarm": false, "reason": "r", "alarm": true, "reason": "s"}').reason == "r"
    )
