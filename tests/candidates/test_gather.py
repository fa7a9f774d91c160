"""The order of what is proposed, and what becomes of the same proposal from two sources."""

from dataclasses import replace

import pytest

from app.candidates.gather import gather_candidates, judge_candidates
from app.candidates.recipes import Recipe
from app.events.vocabulary import RemoveLine, SetOption
from app.skills.skill import ContentFix
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget

EMPTY, SSHD = "V-257984", "/etc/ssh/sshd_config"
PROSE = SetOption(path=SSHD, key="PermitEmptyPasswords", value="no")
TASKS = "- lineinfile: {path: /etc/ssh/sshd_config, regexp: '^PermitEmpty', line: PermitEmptyPasswords no}"


@pytest.fixture
def target(tmp_path):
    one = FixtureTarget("fixture", tmp_path)
    one.prepare()
    return one


def gather(target, *recipes, tasks=""):
    skill = replace(STIG, list_tasks=lambda _: (ContentFix("the content's Ansible tasks", tasks),) if tasks else ())
    rule = skill.rules[EMPTY]
    found = gather_candidates(skill, rule, target.files, SSHD, recipes)
    return judge_candidates(found, target, rule.asks)


def test_a_persons_recipe_comes_first_then_the_tasks_then_the_prose(target):
    other = Recipe(EMPTY, "ana", (RemoveLine(path=SSHD, line="PermitEmptyPasswords\tyes"),))
    unrelated = Recipe("V-1", "bea", other.actions)
    found = gather(target, unrelated, other, tasks=TASKS)
    assert [one.source for one in found] == ["a recipe of ana", "the content's Ansible tasks", "the fix text"]


def test_the_same_actions_are_one_candidate_that_names_both_sources(target):
    [one] = gather(target, Recipe(EMPTY, "ana", (PROSE,)))
    assert (one.source, one.also, one.actions) == ("a recipe of ana", ("the fix text",), (PROSE,))
    assert one.sources == "a recipe of ana and the fix text"


def test_other_actions_with_the_same_result_are_one_candidate_too(target):
    same = Recipe(EMPTY, "ana", (SetOption(path=SSHD, key="permitemptypasswords", value="no"),))
    [one] = gather(target, same)
    assert (one.is_usable, one.also) == (True, ("the fix text",))


def test_what_the_policy_refuses_is_not_merged_by_its_result(target):
    weak = (SetOption(path=SSHD, key="StrictModes", value="no"),)
    found = gather(target, Recipe(EMPTY, "ana", weak), Recipe(EMPTY, "bea", (*weak, *weak)))
    assert [bool(one.refusal) for one in found] == [True, True, False]
