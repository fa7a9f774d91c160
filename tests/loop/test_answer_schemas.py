"""What fits a turn's schema can be read, and is refused for what it does and never for how it is put."""

import json
import random
import re
from dataclasses import replace
from itertools import product

import msgspec
import pytest

from app.engines.schema_reduction import to_bindable_schema
from app.engines.simulator import schema_fitter
from app.engines.simulator.answer_composition import compose_answer
from app.engines.simulator.answer_script import ANSWERS, read_script
from app.engines.simulator.prompt_parser import read_prompt
from app.events.event_field_types import Reload, SetOption, fingerprint_actions
from app.events.kinds import (
    ActionProposed,
    AttemptFailed,
    AttemptStarted,
    ItemStarted,
    PlanMade,
    RunScoped,
    VerdictGiven,
)
from app.loop import answers
from app.loop.answer_schemas import SCHEMA_BUILDERS, TurnSituation
from app.loop.prompts import build_user_prompt
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile
from app.loop.state import ScannerMove
from app.loop.turn_context import build_situation
from app.skills.stig.pack import STIG
from app.targets.files_that_roles_may_see import ABSENT
from app.targets.policy import list_action_refusals
from tests.loop.playing import World, pack, request, rule
from tests.loop.walks import about, host, walk

HOST = host()
SCRIPT = read_script(ANSWERS)
OF_SHAPE = ("not well formed", "not a plain absolute path", "the plan does not name", "the same action twice")


def planned(asked, plan):
    made = PlanMade(rule=asked.rule.id, attempt=1, **{name: getattr(plan, name) for name in plan.__struct_fields__})
    return replace(asked, attempt=msgspec.structs.replace(asked.attempt, plan=made))


def moved(asked, *moves):
    return replace(asked, item=msgspec.structs.replace(asked.item, moved=moves))


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("rule", STIG.rules)
def test_every_walk_of_every_shape_is_an_answer(rule, guided):
    draw = random.Random(rule)
    asked = about(rule, HOST, guided=guided)
    for purpose in SCHEMA_BUILDERS:
        now = build_situation(purpose, asked)
        schema = SCHEMA_BUILDERS[purpose](now)
        for _ in range(10):
            said = walk(schema, draw)
            answer = answers.parse_answer(purpose, json.dumps(said), now.lines_by_path_and_number)
            if purpose == "plan":
                asked = planned(asked, answer)
                break


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("rule", STIG.rules)
def test_what_is_refused_is_refused_for_its_effect(rule, guided):
    draw = random.Random(rule)
    for _ in range(3):
        asked = about(rule, HOST, guided=guided)
        asked = planned(
            asked,
            answers.parse_answer(
                "plan", json.dumps(walk(SCHEMA_BUILDERS["plan"](build_situation("plan", asked)), draw))
            ),
        )
        now = build_situation("act", asked)
        work = answers.parse_answer(
            "act", json.dumps(walk(SCHEMA_BUILDERS["act"](now), draw)), now.lines_by_path_and_number
        )
        refusals = list_action_refusals(work.actions, frozenset(asked.attempt.plan.paths), HOST)
        assert not [one for one in refusals if any(words in one.reason for words in OF_SHAPE)]


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("rule", STIG.rules)
def test_every_shape_is_one_that_a_grammar_can_be_made_of(rule, guided):
    asked = about(rule, HOST, guided=guided)
    for purpose in SCHEMA_BUILDERS:
        schema = SCHEMA_BUILDERS[purpose](build_situation(purpose, asked))
        schema_fitter.check_schema(schema)
        assert to_bindable_schema(schema) == schema
        _every_string_and_list_is_bounded(schema)


@pytest.mark.parametrize("rule", STIG.rules)
def test_what_has_failed_alone_is_not_offered_alone_again(rule):
    draw = random.Random(rule)
    asked = about(rule, HOST, guided=True)
    asked = planned(
        asked,
        answers.parse_answer("plan", json.dumps(walk(SCHEMA_BUILDERS["plan"](build_situation("plan", asked)), draw))),
    )
    now, tried = build_situation("act", asked), set()
    for _ in range(12):
        schema = SCHEMA_BUILDERS["act"](replace(now, tried=frozenset(tried)))
        schema_fitter.check_schema(schema)
        assert to_bindable_schema(schema) == schema
        said = walk(schema, draw)
        fingerprint = fingerprint_actions(
            answers.parse_answer("act", json.dumps(said), now.lines_by_path_and_number).actions
        )
        if fingerprint in tried and len(said["actions"]) == 1:
            assert {_alone(one, now) for one in _choices(SCHEMA_BUILDERS["act"](now))} <= tried
            break
        tried.add(fingerprint)
    assert len(tried) > 1 or len(_choices(SCHEMA_BUILDERS["act"](now))) == 1


def _choices(schema):
    """Every action that the shape allows."""
    found = []
    items = schema["properties"]["actions"]["items"]
    for option in items.get("anyOf", [items]):
        fields = {name: one.get("enum") or [one["const"]] for name, one in option["properties"].items()}
        found += [dict(zip(fields, one, strict=True)) for one in product(*fields.values())]
    return found


def _alone(action, now):
    return fingerprint_actions(
        answers.parse_answer("act", json.dumps({"actions": [action]}), now.lines_by_path_and_number).actions
    )


def test_files_that_decide_together_are_planned_and_changed_together():
    first, other = "/etc/pam.d/system-auth", "/etc/pam.d/password-auth"
    asked = about("V-258094", HOST, guided=True)
    assert asked.opening.path == first
    elsewhere = ScannerMove(frozenset({"/etc/login.defs"}), other)
    both = ScannerMove(frozenset({first, other}), other)
    assert not build_situation("plan", moved(asked, elsewhere, both)).joint_files
    asked = moved(asked, elsewhere, ScannerMove(frozenset({first}), other))
    said = walk(SCHEMA_BUILDERS["plan"](build_situation("plan", asked)), random.Random(1))
    assert said["paths"] == [first, other]
    now = build_situation("act", planned(asked, answers.parse_answer("plan", json.dumps(said))))
    schema = SCHEMA_BUILDERS["act"](now)
    schema_fitter.check_schema(schema)
    assert to_bindable_schema(schema) == schema
    assert schema["properties"]["actions"]["minItems"] == 2


def test_a_sentence_of_any_length_is_read_in_one_way_only():
    pattern = _sentence_of_a_plan()
    ways = [re.compile(way) for way in pattern.removeprefix("^(").removesuffix(")$").split("|")]
    assert len(ways) == 3
    assert all(sum(bool(way.fullmatch("x" * length)) for way in ways) == 1 for length in range(301))
    assert not re.search(pattern, "x" * 301)


def _sentence_of_a_plan():
    asked = about("V-257984", HOST, guided=False)
    return SCHEMA_BUILDERS["plan"](build_situation("plan", asked))["properties"]["approach"]["pattern"]


def _every_string_and_list_is_bounded(node):
    if isinstance(node, dict):
        if node.get("type") == "string":
            assert "maxLength" in node or "{0," in node["pattern"] or "{3}" in node["pattern"], node
        if node.get("type") == "array":
            assert "maxItems" in node, node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _every_string_and_list_is_bounded(value)


@pytest.mark.parametrize("rule", STIG.rules)
def test_what_is_scripted_fits_and_is_not_pressed(rule):
    """The simulated engines give what stands in the script, whatever the shape."""
    lessons = ""
    for number in range(1, 4):
        one = SCRIPT.pick_try(rule, number, lessons)
        lessons = f"{one.mechanism} ({one.environment}) Next time: {one.advice}"
        asked = about(rule, HOST, guided=False)
        plan = answers.Plan(one.approach, one.paths, one.steps, one.risk, one.rollback, one.validation)
        now = build_situation("plan", asked)
        said = {name: getattr(plan, name) for name in plan.__struct_fields__ if name != "candidate"}
        said = json.loads(json.dumps(said))
        assert schema_fitter.fit_to_schema(SCHEMA_BUILDERS["plan"](now), said) == said
        asked = planned(asked, plan)
        now = build_situation("act", asked)
        prompt = read_prompt("act", build_user_prompt("act", asked, 2500, now))
        wanted = compose_answer(replace_tries(SCRIPT, rule, one), prompt).answer
        pressed = schema_fitter.fit_to_schema(SCHEMA_BUILDERS["act"](now), json.loads(json.dumps(wanted)))
        actions = answers.parse_answer("act", json.dumps(pressed), now.lines_by_path_and_number).actions
        assert actions == answers.parse_actions_of_person(json.dumps({"actions": one.actions}))


def replace_tries(script, rule, one):
    class Only:
        def pick_try(self, *_):
            return one

    return Only()


def test_a_pass_alone_can_be_vetoed_and_an_alarm_needs_something_to_be_raised_over():
    asked = about("V-257985", HOST, guided=True)
    now = build_situation("review", asked)
    assert SCHEMA_BUILDERS["review"](now)["properties"]["veto"] == {"const": False}
    assert "anyOf" in SCHEMA_BUILDERS["review"](replace(now, gamable=True))
    now = build_situation("triage", asked)
    assert now.trouble == ("login: it  fails ", "a   b", "sshd: error: no")
    assert SCHEMA_BUILDERS["triage"](replace(now, trouble=()))["properties"]["alarm"] == {"const": False}


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize(("purpose", "quiet"), [("review", {"gamable": False}), ("triage", {"trouble": ()})])
def test_a_turn_without_an_objection_may_give_a_reason_unless_it_is_guided(purpose, quiet, guided):
    now = replace(build_situation(purpose, about("V-257985", HOST, guided=guided)), **quiet)
    schema = SCHEMA_BUILDERS[purpose](now)
    assert ("reason" in schema["properties"]) == (not guided)
    assert "reason" not in schema["required"]


@pytest.mark.parametrize(
    ("cause", "kept"), [("scanner", (ScannerMove(frozenset({"/etc/x"}), "/etc/y"),)), ("alarm", ())]
)
def test_where_the_scanner_points_after_a_change_is_kept_if_the_scanner_refused_it(cause, kept):
    world = World(pack([rule("A")]), lambda _, choices: choices[0])
    begun = ItemStarted(rule="A", title="", category="II")
    world.put(request(world.skill), RunScoped(order=("A",), compliant=(), undecided=()), begun)
    of = {"rule": "A", "attempt": 1}
    change = (SetOption(path="/etc/x", key="k", value="v"), Reload(service="sshd"))
    world.put(
        AttemptStarted(**of, lessons=()),
        ActionProposed(**of, actions=change, note="", fingerprint="f", diff=""),
        VerdictGiven(**of, phase="attempt", word="fail", evidence="", scanner="", path="/etc/y"),
        AttemptFailed(**of, cause=cause, reason=""),
    )
    assert world.state.item.moved == kept


@pytest.mark.parametrize(("why_not", "offered"), [("", {"chmod", "append_line"}), (ABSENT, {"append_line"})])
def test_the_rules_mode_is_offered_for_a_file_that_is_there(why_not, offered):
    terms = RuleTerms(("Its mode is 0600, and its line is `auth required x`.",))
    now = TurnSituation(terms, (ShownFile("/etc/pam.d/x", why_not),), guided=True)
    assert {one["do"] for one in _choices(SCHEMA_BUILDERS["act"](now))} == offered
