"""The simulated models' scripts: whatever they say must fit the shapes that real models are held to."""

import tomllib
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from app.cli.debian_demo import RULES
from app.engines.simulator.answer_script import ANSWERS
from app.events.architect_questions_about_host import Question
from app.events.event_field_types import AnyAction, Reload, ResourceAction
from app.loop.answers import Plan, Reflection, Review, Triage, Work
from app.resources.registry import get_prefixed_name_of_changed_resource
from app.skills.stig.pack import STIG

FILES = [tomllib.loads(file.read_text("utf-8")) for file in sorted(ANSWERS.glob("*.toml"))]
SCRIPTS = {rule: script["try"] for file in FILES for rule, script in file.items() if "like" not in script}
TRIES = [pytest.param(one, id=f"{rule}-{n}") for rule, tries in SCRIPTS.items() for n, one in enumerate(tries, 1)]

PLAN = {"approach", "paths", "steps", "risk", "rollback", "validation"}
LESSON = {"mechanism", "environment", "advice"}
REFLECTION = LESSON | {"decision", "reason"}
THOUGHTS = {"thought", "worker_thought", "auditor_thought", "sentry_thought"}
NEEDED = PLAN | THOUGHTS | {"note", "actions", "explanation"}
ASKED = {"question_thought", "why", "questions"}
OPTIONAL = REFLECTION | ASKED | {"needs_lesson", "veto", "reflect_thought"}


def test_the_thirty_rules_of_the_stig_and_the_demos_of_debian_are_scripted_once_each() -> None:
    scripted = [rule for file in FILES for rule in file]
    assert len(scripted) == len(set(scripted))
    assert set(STIG.rules) | set(RULES) <= set(scripted)
    assert len([rule for rule in scripted if rule.startswith("V-")]) == 30


@pytest.mark.parametrize("one", TRIES)
def test_a_try_says_all_that_is_needed_and_nothing_that_is_never_read(one: dict[str, Any]) -> None:
    assert NEEDED - one.keys() == set()
    assert one.keys() - NEEDED - OPTIONAL == set()


@pytest.mark.parametrize("one", TRIES)
def test_a_try_fits_the_shapes_of_every_role(one: dict[str, Any]) -> None:
    msgspec.convert({key: one[key] for key in PLAN}, Plan)
    assert not ASKED & one.keys() or len(msgspec.convert(one["questions"], list[Question])) == 1
    msgspec.convert({"actions": one["actions"], "note": one["note"]}, Work)
    veto = one.get("veto", "")
    msgspec.convert({"explanation": one["explanation"], "veto": bool(veto), "reason": veto}, Review)
    msgspec.convert({"assessment": one["sentry_thought"], "alarm": False, "reason": ""}, Triage)
    if "decision" in one:
        msgspec.convert({key: one[key] for key in REFLECTION}, Reflection)


@pytest.mark.parametrize("one", TRIES)
def test_the_plan_names_all_that_the_actions_touch(one: dict[str, Any]) -> None:
    actions = [one for one in msgspec.convert(one["actions"], list[AnyAction]) if not isinstance(one, Reload)]
    touched = {
        get_prefixed_name_of_changed_resource(one) if isinstance(one, ResourceAction) else one.path for one in actions
    }
    assert touched == set(one["paths"])


@pytest.mark.parametrize("one", TRIES)
def test_a_try_is_short_enough_to_be_watched(one: dict[str, Any]) -> None:
    assert 25 <= len(one["thought"].split()) <= 60
    assert 4 <= len(one["worker_thought"].split()) <= 30
    assert len(one["sentry_thought"].split()) <= 25
    assert len(one["explanation"].split()) <= 30
    assert 1 <= len(one["steps"]) <= 4
    for key in ("approach", "risk", "rollback", "validation", "note"):
        assert 2 <= len(one[key].split()) <= 20, key


@pytest.mark.parametrize("one", TRIES)
def test_a_try_is_calm(one: dict[str, Any]) -> None:
    said = " ".join(value for value in one.values() if isinstance(value, str))
    assert said.isascii()
    assert "! " not in f"{said} "


@pytest.mark.parametrize("rule", SCRIPTS)
def test_only_a_try_that_failed_is_reflected_on_and_all_but_the_last_did(rule: str) -> None:
    *failed, last = SCRIPTS[rule]
    assert all({*REFLECTION, "reflect_thought"} <= one.keys() for one in failed)
    assert "decision" not in last or last["decision"] == "ESCALATE"
    assert all(one["decision"] != "ESCALATE" for one in failed)
    assert not any("veto" in one and "decision" not in one for one in SCRIPTS[rule])


@pytest.mark.parametrize("rule", SCRIPTS)
def test_what_a_try_needs_to_have_learnt_is_what_the_one_before_it_taught(rule: str) -> None:
    assert "needs_lesson" not in SCRIPTS[rule][0]
    for failed, following in pairwise(SCRIPTS[rule]):
        needed = following.get("needs_lesson")
        if needed is not None:
            assert any(needed in failed[key] for key in LESSON)


@pytest.mark.parametrize("rule", SCRIPTS)
def test_no_approach_is_tried_twice(rule: str) -> None:
    tried = [msgspec.json.encode(one["actions"], order="sorted") for one in SCRIPTS[rule]]
    assert len(set(tried)) == len(tried)
