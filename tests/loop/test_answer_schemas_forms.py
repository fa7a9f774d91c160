"""Which forms an answer may have: what a file that is shown whole, cut, withheld or absent can be asked to become."""

import json
import re
from dataclasses import replace

import pytest

from app.events.event_field_types import fingerprint_actions
from app.loop.answer_schemas import (
    LONG,
    MOST_ACTIONS,
    MOST_PATHS,
    SCHEMA_BUILDERS,
    SHORT,
    TurnSituation,
    _build_text_schema,
)
from app.loop.answers import parse_answer
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile
from app.resources.unit import SetUnit
from app.targets.files_that_roles_may_see import ABSENT
from app.targets.resources.available_actions import Offer

PAM, SSHD = "/etc/pam.d/x", "/etc/ssh/sshd_config"
LINES = {1: "auth required a", 2: "auth required b"}
WHOLE = ShownFile(PAM, "", LINES, LINES)
CUT = ShownFile(PAM, "", LINES, {1: LINES[1]}, cut=True)
WITHHELD = ShownFile(PAM, "it holds secrets and is not shown")
GONE = ShownFile(PAM, ABSENT)
OFFER = Offer("unit:x", "off", (SetUnit(unit="x.service", to="enable"), SetUnit(unit="x.service", to="mask")))
NO_TERMS = RuleTerms(())


def list_forms(schema):
    """Each form of an action, by its verb and how it names a line."""
    items = schema["properties"]["actions"]["items"]
    options = [one["properties"] for one in items.get("anyOf", [items])]
    return [" ".join([one["do"]["const"], *({"number", "old", "line", "word"} & one.keys())]) for one in options]


def act(*files, terms=NO_TERMS, guided=False, **more):
    texts = {file.path: "\n".join(file.lines.values()) for file in files if not file.why_not}
    return SCHEMA_BUILDERS["act"](TurnSituation(terms, files, texts, guided=guided, **more))


NUMBERED = ["replace_line number", "remove_line number"]
WORDED = ["replace_line old", "remove_line line"]
NEW = ["append_line line", "write_file"]


@pytest.mark.parametrize(
    ("file", "forms"),
    [
        (WHOLE, ["chmod", *NUMBERED, *NEW]),
        (CUT, ["chmod", *NUMBERED, *WORDED, *NEW]),
        (WITHHELD, ["chmod", *WORDED, *NEW]),
        (GONE, NEW),
    ],
)
def test_a_line_is_named_by_its_number_where_it_is_shown_and_in_words_where_it_is_not(file, forms):
    assert list_forms(act(file)) == forms
    assert list_forms(act(file, guided=True)) == forms, "nothing of the rule applies, so any form does"


def test_the_numbers_that_can_be_named_are_those_of_the_lines_that_are_shown_whole():
    options = act(CUT)["properties"]["actions"]["items"]["anyOf"]
    assert [one["properties"]["number"]["enum"] for one in options if "number" in one["properties"]] == [[1], [1]]


def test_an_option_can_be_set_in_a_file_of_options_by_every_key_that_it_knows():
    file = ShownFile(SSHD, "", {1: "Port 22"}, {1: "Port 22"})
    (option,) = [
        one["properties"] for one in act(file)["properties"]["actions"]["items"]["anyOf"] if "key" in one["properties"]
    ]
    assert option["key"] == {"enum": ["Port"]}


@pytest.mark.parametrize(
    ("services", "files", "reload"), [((), (WHOLE,), False), (("sshd",), (WHOLE,), True), ((), (), True)]
)
def test_a_reload_is_a_form_where_a_service_reads_the_files_or_nothing_else_is(services, files, reload):
    schema = act(*files, services=services)
    assert ("reload" in list_forms(schema)) == reload
    assert schema["properties"]["actions"]["maxItems"] == MOST_ACTIONS
    guided = act(*files, services=services, guided=True, offers=(OFFER,))
    assert guided["properties"].get("reload", {}).get("enum") == ([*services, "none"] if services else None)


TERMS = RuleTerms(("Mode 0600. The line is `auth required c`. No line carries the word nullok.",))


@pytest.mark.parametrize(
    ("lines", "why_not", "forms"),
    [
        (
            {3: "auth sufficient x nullok"},
            "",
            ["chmod", "drop_word number word", "remove_line number", "append_line line"],
        ),
        ({3: "session include x"}, "", ["chmod", "append_line line"]),
        ({}, WITHHELD.why_not, ["chmod"]),
        ({}, ABSENT, ["append_line line"]),
    ],
)
def test_a_guided_worker_may_do_what_the_rule_speaks_of(lines, why_not, forms):
    found = list_forms(act(ShownFile(PAM, why_not, lines, lines), terms=TERMS, guided=True))
    assert [" ".join(sorted(one.split())) for one in found] == [" ".join(sorted(one.split())) for one in forms]


def test_what_stands_beside_files_is_a_form_of_its_own_for_each_action():
    for guided in (True, False):
        found = act(WHOLE, guided=guided, offers=(OFFER,), terms=TERMS)["properties"]["actions"]["items"]
        units = [one["properties"]["to"]["const"] for one in found["anyOf"] if "unit" in one["properties"]]
        assert units == ["enable", "mask"]


def count_actions(schema):
    ways = schema["properties"]["actions"]
    return [(one["minItems"], one["maxItems"]) for one in ways.get("anyOf", [ways])]


MODES = RuleTerms(("Its mode is 0600 or 0640.",))


def mark(mode):
    said = {"actions": [{"do": "chmod", "path": PAM, "mode": mode}]}
    return fingerprint_actions(parse_answer("act", json.dumps(said)).actions)


@pytest.mark.parametrize(
    ("tried", "modes", "counts"),
    [((), ["0600", "0640"], [(1, 1)]), (("0600",), ["0640"], [(1, 1)]), (("0600", "0640"), ["0600", "0640"], [(1, 1)])],
)
def test_a_value_that_has_failed_is_offered_again_only_if_nothing_else_is_left(tried, modes, counts):
    schema = act(WHOLE, terms=MODES, guided=True, tried=frozenset(map(mark, tried)))
    assert count_actions(schema) == counts
    assert schema["properties"]["actions"]["items"]["properties"]["mode"] == {"enum": modes}


def test_several_actions_may_hold_one_that_failed_alone_and_joint_files_take_several():
    other = replace(WHOLE, path="/etc/pam.d/y")
    assert count_actions(act(WHOLE, other, terms=MODES, guided=True)) == [(1, 2)]
    assert count_actions(act(WHOLE, other, terms=MODES, guided=True, tried=frozenset({mark("0600")}))) == [
        (1, 1),
        (2, 2),
    ]
    joint = act(WHOLE, other, terms=MODES, guided=True, joint_files=(PAM, other.path))
    assert count_actions(joint) == [(2, 2)]
    alone = act(WHOLE, terms=MODES, guided=True, joint_files=(PAM, other.path))
    assert count_actions(alone) == [(1, 1)], "one form cannot be two actions"
    many = [replace(WHOLE, path=f"/etc/pam.d/{n}") for n in range(9)]
    assert count_actions(act(*many, terms=MODES, guided=True)) == [(1, 4)]


def plan(**more):
    return SCHEMA_BUILDERS["plan"](TurnSituation(MODES, (WHOLE,), {PAM: ""}, (PAM,), **more))


def test_a_plan_names_known_paths_and_new_files_of_known_folders():
    schema = plan(folders=("/etc/pam.d/*.conf",), offers=(OFFER,))
    where = schema["properties"]["paths"]
    known, new = where["items"]["anyOf"]
    assert (known, where["minItems"], where["maxItems"]) == ({"enum": ["unit:x", PAM]}, 1, MOST_PATHS)
    assert new["pattern"] == r"^/etc/pam\.d/[a-z0-9][a-z0-9_-]{0,31}\.conf$"
    nowhere = SCHEMA_BUILDERS["plan"](TurnSituation(NO_TERMS))
    assert nowhere["properties"]["paths"]["items"] == {"enum": ["/"]}


@pytest.mark.parametrize("guided", [True, False])
def test_a_plan_may_take_a_proposal_or_ask_instead_where_it_may(guided):
    takes = plan(guided=guided, takeable={2: (PAM,), 5: (PAM,)})
    if guided:
        assert takes["anyOf"][0]["properties"]["candidate"] == {"enum": [2, 5]}
    else:
        assert takes["properties"]["candidate"] == {"enum": [0, 2, 5]}
    assert "candidate" not in plan(guided=guided)["properties"]
    own, asks = plan(guided=guided, may_ask=2)["anyOf"]
    assert own == plan(guided=guided)
    assert (asks["properties"]["questions"]["minItems"], asks["properties"]["questions"]["maxItems"]) == (1, 2)
    assert asks["required"] == ["why", "questions"]


def test_a_guided_plan_names_files_that_can_be_changed_as_the_rule_wants_and_joint_files_together():
    other = ShownFile("/etc/pam.d/y", ABSENT)
    now = TurnSituation(MODES, (WHOLE, other), {PAM: ""}, (PAM, other.path), guided=True)
    assert SCHEMA_BUILDERS["plan"](now)["properties"]["paths"]["items"] == {"enum": [PAM]}
    nothing = replace(now, terms=NO_TERMS)
    assert SCHEMA_BUILDERS["plan"](nothing)["properties"]["paths"]["items"] == {"enum": [PAM, other.path]}
    joint = replace(now, joint_files=(PAM, other.path))
    assert SCHEMA_BUILDERS["plan"](joint)["properties"]["paths"] == {"const": [PAM, other.path]}


@pytest.mark.parametrize("guided", [True, False])
def test_a_veto_and_an_alarm_need_their_reason_and_a_decision_counts_where_it_weighs(guided):
    veto = SCHEMA_BUILDERS["review"](TurnSituation(NO_TERMS, guided=guided))["anyOf"][1]
    assert (veto["properties"]["veto"], veto["required"]) == ({"const": True}, ["explanation", "veto", "reason"])
    alarm = SCHEMA_BUILDERS["triage"](TurnSituation(NO_TERMS, trouble=("a", "b"), guided=guided))["anyOf"][1]
    assert (alarm["properties"]["alarm"], alarm["required"]) == ({"const": True}, ["assessment", "alarm", "reason"])
    assert (alarm["properties"]["reason"] == {"enum": ["a", "b"]}) == guided
    for weighs, words in ((True, ["CONTINUE", "PIVOT", "ESCALATE"]), (False, ["CONTINUE"])):
        schema = SCHEMA_BUILDERS["reflect"](TurnSituation(NO_TERMS, weighs=weighs, guided=guided))
        assert schema["properties"]["decision"] == {"enum": words}
        assert ("environment" in schema["properties"]) == (not guided)


@pytest.mark.parametrize(
    ("purpose", "field"), [("review", "explanation"), ("triage", "assessment"), ("reflect", "advice")]
)
def test_a_guided_role_says_less(purpose, field):
    for guided, most in ((True, SHORT), (False, LONG)):
        schema = SCHEMA_BUILDERS[purpose](TurnSituation(NO_TERMS, guided=guided, gamable=False))
        text = schema["properties"][field]
        assert re.search(text["pattern"], "x" * most)
        assert not re.search(text["pattern"], "x" * (most + 1))


@pytest.mark.parametrize("most", [1, 120, 121, 240, 241])
def test_a_text_is_bounded_as_a_whole(most):
    pattern = _build_text_schema(most)["pattern"]
    assert [bool(re.search(pattern, "x" * length)) for length in (0, most, most + 1)] == [True, True, False]
