import json

import pytest

from app.events.words import Chmod, SetOption
from app.loop.answers import SHAPES, BrokenAnswer, Review, Work, read, schema

REVIEW = {"explanation": "e", "veto": False, "reason": ""}


def act(**action):
    return json.dumps({"actions": [action], "note": ""})


def test_an_answer_is_read_with_whatever_stands_around_it():
    assert read("review", f"Sure:\n```json\n{json.dumps(REVIEW)}\n```") == Review("e", False, "")


def test_a_raw_newline_inside_a_string_is_welcome_and_other_control_characters_are_not():
    text = json.dumps(REVIEW).replace('"e"', '"one\ntwo"')
    assert read("review", text).explanation == "one\ntwo"
    with pytest.raises(BrokenAnswer):
        read("review", json.dumps(REVIEW).replace('"e"', '"one\x07two"'))
    with pytest.raises(BrokenAnswer):
        read("review", json.dumps({**REVIEW, "explanation": "\x1b[2J"}))


def test_actions_come_out_typed():
    assert read("act", act(do="chmod", path="/etc/shadow", mode="0000")) == Work(
        (Chmod(path="/etc/shadow", mode="0000"),), ""
    )
    work = read("act", act(do="set_option", path="/etc/x", key="k", value="v"))
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
        read("act", text)


@pytest.mark.parametrize("purpose", SHAPES)
def test_every_string_and_list_of_a_schema_is_bounded(purpose):
    def walk(node):
        if isinstance(node, dict):
            if node.get("type") == "string":
                assert "maxLength" in node or "pattern" in node, node
            if node.get("type") == "array":
                assert "maxItems" in node, node
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(schema(purpose))
