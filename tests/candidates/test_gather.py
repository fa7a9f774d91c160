"""The order of what is proposed, and what becomes of the same proposal from two sources."""

import re
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

from app.candidates.gather import (
    gather_candidates,
    has_usable_or_impossible,
    judge_candidates,
    try_scripts_and_append_judged_candidates,
)
from app.candidates.recipe_file_reader import Recipe
from app.candidates.settings_that_proposals_ask_for import list_settings_of_candidates_except_recipes
from app.events.event_field_types import AppendLine, Candidate, Reload, RemoveLine, SetOption
from app.resources.kind import ResourceAction
from app.resources.package import InstallPackage
from app.resources.registry import get_kind
from app.resources.unit import SetUnit
from app.skills.skill import ContentFix
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.planned_effects_of_actions import Refusal

NONE: frozenset[str] = frozenset()
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


SYSCTL = "/etc/sysctl.conf"


def test_a_proposal_ends_with_the_reload_that_puts_it_in_force(target):
    recipe = Recipe(EMPTY, "ana", (AppendLine(path=SYSCTL, line="kernel.kptr_restrict = 2"),))
    [one] = judge_candidates(gather_candidates(STIG, STIG.rules[EMPTY], target.files, SSHD, [recipe])[:1], target, NONE)
    assert one.actions[1:] == (Reload(service="systemd-sysctl"),)
    again = replace(recipe, actions=one.actions)
    [same] = judge_candidates(gather_candidates(STIG, STIG.rules[EMPTY], target.files, SSHD, [again])[:1], target, NONE)
    assert same.actions == one.actions


def test_a_value_that_only_a_site_knows_is_no_proposal(target):
    [one, _] = gather(target, tasks="- copy: {dest: /etc/aliases, content: 'root: change_me@localhost'}")
    assert (one.actions, one.gap) == ((), "It leaves a value open, which a person decides: 'change_me@localhost'.")


@pytest.mark.parametrize(
    ("fix", "gap"),
    [
        ('Add this line to "/etc/resolv.conf":\n\nnameserver [name server 1]', "leaves a value open.*name server 1"),
        ('Add this line to "/etc/ssh/sshd_config":\n\nPermitRootLogin yes', "would change nothing on this host"),
        ("Ask somebody.", "no line and no command"),
    ],
)
def test_a_fix_text_from_which_nothing_follows_says_why(target, fix, gap):
    about = replace(STIG.rules[EMPTY], id="x", title="x", requirement="", fix=fix, script=False)
    [found] = [one for one in gather_candidates(STIG, about, target.files) if one.source == "the fix text"]
    assert not found.actions
    assert re.search(gap, found.gap)


@pytest.mark.parametrize(
    ("rule", "title", "question"),
    [
        ("partition_for_srv", "x", "needs a partition"),
        ("V-1", "RHEL 9 must use a separate file system for /tmp.", "needs a partition"),
        ("rsyslog_remote_tls", "x", "needs the site's log server"),
        ("sysctl_kernel_modules_disabled", "x", "holds until the next boot"),
        ("sshd_disable_root_login", "Disable root login", ""),
    ],
)
def test_what_only_a_person_decides_is_said_where_nothing_is_proposed(target, rule, title, question):
    about = replace(STIG.rules[EMPTY], id=rule, title=title, requirement="", fix="Ask somebody.", script=False)
    found = gather_candidates(STIG, about, target.files)
    assert [one.question for one in found if one.question] == ([question] if question else [])


def test_a_question_that_is_asked_although_something_is_proposed_follows_the_proposals(target):
    tasks = "- lineinfile: {path: /etc/fapolicyd/fapolicyd.conf, line: 'permissive = 0', create: true}"
    skill = replace(STIG, list_tasks=lambda _: (ContentFix("the content's Ansible tasks", tasks),))
    about = replace(STIG.rules[EMPTY], id="fapolicy_default_deny", title="", requirement="", fix="Ask somebody.")
    found = gather_candidates(skill, about, target.files)
    assert [one.question for one in found if one.actions or one.question] == ["", "needs a list of allowed programs"]
    assert not any(one.is_usable for one in judge_candidates(found, target, NONE))


def test_what_the_content_proposes_is_what_the_rule_asks_for(target):
    line = "umask 077"
    tasks = f"- lineinfile: {{path: /etc/bashrc, line: '{line}', create: true}}"
    [one, _] = gather(target, tasks=tasks)
    assert list_settings_of_candidates_except_recipes([one]) == {"umask umask 077"}
    assert one.refusal == ""
    [mine, _] = gather(target, Recipe(EMPTY, "ana", one.actions))
    assert list_settings_of_candidates_except_recipes([mine]) == frozenset()
    assert "does not state" in mine.refusal


def test_a_script_that_cannot_be_tried_says_why(target):
    rule = STIG.rules[EMPTY]
    scripted = replace(STIG, list_scripts=lambda _: (ContentFix("the content's script", "true"),))
    [one] = try_scripts_and_append_judged_candidates(scripted, rule, target, NONE, None, ())
    assert one.source == "the content's script, tried on a copy"
    assert "a tree of files" in one.gap
    assert one.is_script_trial


def test_nothing_is_tried_where_it_is_known_that_nothing_can_work(target):
    [usable] = gather(target)
    refused = msgspec.structs.replace(usable, refusal="impossible here: no kernel")
    weaker = msgspec.structs.replace(usable, refusal="weakening: x")
    assert [has_usable_or_impossible([one]) for one in (usable, refused, weaker)] == [True, True, False]


class OnlyFilesAndUnits:
    """A host on which the policy accepts one kind of change at a time, and no package."""

    def assess_actions(self, actions, _allowed, _asks, _scope=None):
        kinds = {get_kind(one).name if isinstance(one, ResourceAction) else "file" for one in actions}
        refused = [Refusal(actions[0], "too much", "change it alone.")] if len(kinds) > 1 or "package" in kinds else []
        return SimpleNamespace(refusals=refused, plan=SimpleNamespace(obstacle=""), diff_or_obstacle=f"{actions}")


def test_a_proposal_of_several_kinds_that_is_refused_as_a_whole_is_offered_in_its_parts():
    unit, package = SetUnit(unit="rngd.service", to="enable"), InstallPackage(package="rng-tools")
    whole = Candidate(source="the fix text", actions=(package, unit, PROSE))
    judged = judge_candidates([whole], OnlyFilesAndUnits(), NONE)
    assert [(one.source, one.actions, one.is_usable) for one in judged] == [
        ("the fix text", whole.actions, False),
        ("the fix text, its unit part", (unit,), True),
        ("the fix text, its file part", (PROSE,), True),
    ]
    assert len(judge_candidates([Candidate(source="x", actions=(unit,))], OnlyFilesAndUnits(), NONE)) == 1
