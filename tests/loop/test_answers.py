import json

import pytest

from app.events.event_field_types import AppendLine, Chmod, Reload, RemoveLine, ReplaceLine, SetOption
from app.loop.answers import BrokenAnswer, Review, Work, parse_actions_of_person, parse_answer

REVIEW = {"explanation": "e", "veto": False, "reason": ""}


def act(**action):
    return json.dumps({"actions": [action], "note": ""})


def test_an_answer_is_read_with_whatever_stands_around_it():
    assert parse_answer("review", f"Sure:\n```json\n{json.dumps(REVIEW)}\n```") == Review("e", False, "")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": } Let me correct that: ' + json.dumps(REVIEW),
        '{"explanation": "e", "veto": false, "reason": "",}',
        json.dumps({"draft": 1}) + " and then {sic} " + json.dumps(REVIEW) + " {end}",
    ],
)
def test_without_a_grammar_the_last_whole_object_counts(text):
    assert parse_answer("review", text) == Review("e", False, "")


def test_surplus_names_of_an_answer_are_left_out_and_those_of_an_action_are_refused():
    said = json.dumps({**REVIEW, "backup": "/etc/x", "do": "set_option"})
    assert parse_answer("review", said) == Review("e", False, "")
    flat = act(do="reload", service="sshd")[:-1] + ', "do": "set_option", "path": "/etc/x", "key": "k", "value": "v"}]'
    assert parse_answer("act", flat, {}).actions == (Reload(service="sshd"),)
    with pytest.raises(BrokenAnswer, match="unknown field `sudo`"):
        parse_answer("act", act(do="reload", service="sshd", sudo=True), {})
    asked = {"approach": "a", "paths": ["/etc/x"], "questions": [{"ask": "mounts"}]}
    with pytest.raises(BrokenAnswer, match="unknown field"):
        parse_answer("plan", json.dumps(asked))


def test_a_person_who_writes_a_name_that_is_none_is_told():
    with pytest.raises(BrokenAnswer, match="unknown field `notes`"):
        parse_actions_of_person(json.dumps({"actions": [{"do": "reload", "service": "sshd"}], "notes": ""}))


def test_of_a_name_that_is_repeated_the_first_value_counts():
    said = '{"mechanism": "m", "advice": "a", "decision": "CONTINUE", "reason": "r", "decision": "RESPONSE"}'
    assert parse_answer("reflect", said).decision == "CONTINUE"


@pytest.mark.parametrize(("first", "second"), [("true", "false"), ("false", "true")])
def test_a_veto_or_an_alarm_counts_wherever_it_is_said(first, second):
    review = f'{{"explanation": "e", "veto": {first}, "reason": "r", "veto": {second}}}'
    assert parse_answer("review", review).veto
    triage = f'{{"assessment": "a", "alarm": {first}, "reason": "r", "alarm": {second}}}'
    assert parse_answer("triage", triage).alarm


def test_the_last_whole_object_that_fits_counts_not_a_piece_of_what_follows_it():
    said = f'{json.dumps(REVIEW)}], "more": {{"do": "reload"}}], "note": "'
    assert parse_answer("review", said + "}") == Review("e", False, "")


def test_an_object_without_an_end_is_called_so():
    with pytest.raises(BrokenAnswer, match="the JSON object in the answer does not end"):
        parse_answer("plan", '{"approach": "a", "paths": ["/etc/x", "/etc/x"')


def test_paths_that_are_repeated_are_counted_once():
    plan = {"approach": "a", "paths": ["/etc/x", "/etc/y"] * 8}
    assert parse_answer("plan", json.dumps(plan)).paths == ("/etc/x", "/etc/y")


def test_a_path_that_is_no_text_is_a_broken_answer():
    with pytest.raises(BrokenAnswer):
        parse_answer("plan", json.dumps({"approach": "a", "paths": ["/etc/x", {"path": "/etc/y"}]}))


def test_a_raw_newline_inside_a_sentence_is_welcome_and_other_control_characters_are_taken_out():
    text = json.dumps(REVIEW).replace('"e"', '"one\ntwo"')
    assert parse_answer("review", text).explanation == "one\ntwo"
    assert parse_answer("review", json.dumps(REVIEW).replace('"e"', '"one\x07two"')).explanation == "onetwo"
    assert parse_answer("review", json.dumps({**REVIEW, "explanation": "\x1b[2Jx\ud800"})).explanation == "x"


def test_actions_come_out_typed():
    assert parse_answer("act", act(do="chmod", path="/etc/shadow", mode="0000")) == Work(
        (Chmod(path="/etc/shadow", mode="0000"),), ""
    )
    work = parse_answer("act", act(do="set_option", path="/etc/x", key="k", value="v"))
    assert work.actions == (SetOption(path="/etc/x", key="k", value="v"),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no object",
        "}{",
        "{" * 5000,
        '{"actions": [',
        json.dumps({"actions": [], "note": ""}),
        act(do="shell", command="rm -rf /"),
        act(do="chmod", path="/etc/x", mode="4755"),
        act(do="chmod", path="etc/x", mode="0600"),
        act(do="chmod", path="/etc/x\n", mode="0600"),
        act(do="chmod", path="/etc/x", mode="0600", sudo=True),
        act(do="set_option", path="/etc/x", key="k", value="a\nb"),
        act(do="append_line", path="/etc/x", line="x" * 513),
        json.dumps({"actions": [{"do": "chmod", "path": "/etc/x", "mode": "0600"}] * 13, "note": ""}),
        json.dumps([1, 2]),
        '{"actions": NaN, "note": ""}',
    ],
)
def test_what_does_not_fit_is_a_broken_answer_and_nothing_else(text):
    with pytest.raises(BrokenAnswer):
        parse_answer("act", text)


LINES = {"/etc/x": {3: "a\tb nullok", 4: "c"}}


def test_a_line_is_named_by_its_number_and_told_in_words():
    for said, wanted in (
        ({"do": "replace_line", "number": 4, "new": "d"}, ReplaceLine(path="/etc/x", old="c", new="d")),
        ({"do": "remove_line", "number": 4}, RemoveLine(path="/etc/x", line="c")),
        ({"do": "drop_word", "number": 3, "word": "nullok"}, ReplaceLine(path="/etc/x", old="a\tb nullok", new="a\tb")),
    ):
        assert parse_answer("act", act(path="/etc/x", **said), LINES).actions == (wanted,)


def test_the_words_of_older_answers_are_still_read():
    said = act(do="replace_line", path="/etc/x", old="c", new="d")
    assert parse_answer("act", said).actions == parse_answer("act", said, LINES).actions


def test_a_line_that_was_not_shown_is_none():
    with pytest.raises(BrokenAnswer, match="shown no line 9"):
        parse_answer("act", act(do="remove_line", path="/etc/x", number=9), LINES)


def test_what_is_said_twice_is_meant_once():
    twice = {"actions": [{"do": "reload", "service": "sshd"}] * 2, "reload": "sshd"}
    assert parse_answer("act", json.dumps(twice), {}).actions == (Reload(service="sshd"),)
    plan = {"approach": "a", "paths": ["/etc/x", "/etc/x"]}
    assert parse_answer("plan", json.dumps(plan)).paths == ("/etc/x",)


def test_a_control_character_that_a_grammar_let_in_does_not_reach_a_line():
    said = act(do="append_line", path="/etc/x", line="a\x07b\nc")
    assert parse_answer("act", said, LINES).actions == (AppendLine(path="/etc/x", line="ab"),)


def test_a_vendors_script_is_nobodys_to_write():
    said = {"do": "run_vendor_script", "rule": "r", "sha256": "0" * 64, "script": "true"}
    with pytest.raises(BrokenAnswer, match="nobody's to write"):
        parse_answer("act", json.dumps({"actions": [said], "note": ""}))
