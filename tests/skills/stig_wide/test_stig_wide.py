"""The table's rules: every entry on a host made from its data, the texts, and what the fix text does."""

import re
from dataclasses import replace

import msgspec
import pytest

from app.candidates.gather import gather_candidates, judge_candidates
from app.events.event_field_types import FileAction
from app.skills.catalog import load_skill
from app.skills.skill import apply_parameters
from app.skills.stig.pack import STIG
from app.skills.stig_wide.pack import STIG_WIDE, build_rules, load_table
from app.skills.stig_wide.rule_table_schema import RuleTable, ValueEntry
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.overlay import Overlay
from app.targets.planned_file_states import compute_changed_file_states
from app.targets.rule_scope import RuleScope
from app.targets.writable_areas import list_family_patterns
from tests.hostfiles import DictFiles
from tests.skills.stig_wide.entry_hosts import BARE, ENTRIES, build_right, build_wrong

RULES = build_rules(load_table())
REFUSED: dict[str, str] = {}
"""Rules whose fix the policy refuses on the built-in host, each with the clause."""
PRINTABLE = re.compile(r"[ -~\n…|]+")


def test_the_skill_has_the_thirty_and_the_table_and_no_rule_twice():
    assert load_skill("stig_wide") is STIG_WIDE
    assert len(ENTRIES) == 142
    assert not ENTRIES.keys() & STIG.rules.keys()
    assert set(STIG_WIDE.rules) == {*STIG.rules, *ENTRIES}
    assert len({rule.stig_id for rule in STIG_WIDE.rules.values()}) == len(STIG_WIDE.rules)
    assert sum(len(getattr(load_table(), kind).rules) for kind in load_table().__struct_fields__) == len(ENTRIES)


def test_the_thirty_are_those_of_the_skill_stig():
    for rule, one in STIG.rules.items():
        assert STIG_WIDE.rules[rule] is one


def test_categories_are_those_of_the_stig():
    categories = {"V-257784": "I", "V-257821": "I"} | dict.fromkeys(
        ("V-257824", "V-257880", "V-257946", "V-257947"), "III"
    )
    categories["V-258037"] = "III"
    for rule, one in RULES.items():
        assert re.fullmatch(r"V-25[78]\d{3}", rule)
        assert one.category == categories.get(rule, "II"), rule


def test_what_holds_until_the_next_boot_waits_for_a_person():
    assert {rule for rule, one in RULES.items() if one.irreversible} == {"V-257799", "V-257810", "V-258228"}


@pytest.mark.parametrize("rule", ENTRIES)
def test_a_host_made_from_the_data_passes(rule):
    verdict = RULES[rule].check(DictFiles(build_right(*ENTRIES[rule])))
    assert (verdict.rule, verdict.word) == (rule, "pass"), verdict.evidence
    assert f"{verdict.path} line {verdict.line}" in verdict.evidence


@pytest.mark.parametrize("rule", ENTRIES)
def test_a_host_that_lacks_one_thing_does_not_pass(rule):
    right = build_right(*ENTRIES[rule])
    for name, files in build_wrong(*ENTRIES[rule]):
        assert files != right
        verdict = RULES[rule].check(DictFiles(BARE | files))
        assert (verdict.rule, verdict.word) != (rule, "pass"), (name, verdict.evidence)
        assert verdict.path
        assert PRINTABLE.fullmatch(verdict.evidence)


@pytest.mark.parametrize("rule", [rule for rule, (_, one) in ENTRIES.items() if isinstance(one, ValueEntry)])
def test_every_accepted_value_of_an_entry_passes(rule):
    kind, entry = ENTRIES[rule]
    ends = [f"{one}{entry.unit}" for one in (entry.least, entry.most) if one is not None]
    for value in (*entry.one_of, *ends):
        assert RULES[rule].check(DictFiles(build_right(kind, msgspec.structs.replace(entry, set=value)))).word == "pass"


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_texts_are_plain_and_the_files_may_be_changed(rule):
    for text in (rule.title, rule.requirement, rule.fix, rule.breaks):
        assert text.isascii()
    assert rule.requirement.endswith(".")
    assert not rule.breaks or rule.breaks.endswith(".")
    assert rule.paths
    assert all(list_family_patterns(path) for path in rule.paths)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_fix_text_becomes_actions_that_meet_the_rule_on_a_bare_host(rule):
    files = DictFiles({})
    [one] = gather_candidates(STIG_WIDE, rule, files, rule.check(files).path or "")
    assert rule.check(Overlay(files, compute_changed_file_states(one.actions, files))).word == "pass", one


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    one = FixtureTarget("fixture", tmp_path_factory.mktemp("fixture"))
    one.prepare()
    return one


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_policy_accepts_what_the_fix_text_says_on_the_built_in_host(rule, target):
    verdict = rule.check(target.files)
    if verdict.word == "pass":
        return
    scope = RuleScope(rule.id, f"{rule.title}\n{rule.requirement}\n{rule.fix}", paths=rule.paths)
    found = gather_candidates(STIG_WIDE, rule, target.files, verdict.path or "")
    [one] = judge_candidates(found, target, rule.permitted_weakenings, scope)
    if rule.id in REFUSED:
        assert REFUSED[rule.id] in one.refusal
        return
    assert not one.refusal
    actions = [action for action in one.actions if isinstance(action, FileAction)]
    after = rule.check(Overlay(target.files, compute_changed_file_states(actions, target.files)))
    assert after.word == "pass", after.evidence


def test_site_values_hold_for_this_skill_too():
    assert STIG_WIDE.site_value_skill_name == "stig"
    assert STIG_WIDE.retuned is not None
    tuned = STIG_WIDE.retuned({"minlen": "20"})
    assert "20" in tuned.rules["V-258107"].fix
    assert tuned.rules["V-258115"] is STIG_WIDE.rules["V-258115"]
    assert apply_parameters(STIG_WIDE, ()) is STIG_WIDE


@pytest.mark.parametrize(
    "broken",
    [
        {"key": "a"},
        {"key": "a", "equals": "b", "least": 1},
        {"key": "a", "least": 1, "most": 3, "set": "4"},
        {"key": "a", "equals": "b", "unknown": 1},
        {"key": "a", "equals": "b", "stig_id": "255030"},
        {"key": "a", "equals": "b", "category": "IV"},
    ],
)
def test_an_entry_that_is_not_understood_is_an_error(broken):
    entry = {"stig_id": "RHEL-09-255030", "category": "II"} | broken
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(entry, ValueEntry)


def test_a_table_without_a_section_is_an_error():
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sshd": {"rules": {}}}, RuleTable)


def test_how_a_fix_is_gone_about_stands_apart_from_a_line_that_it_states():
    fix = RULES["V-257994"].fix
    assert "RekeyLimit 1G 1h\n\nsshd keeps" in fix
    assert replace(RULES["V-257982"]).fix.startswith("Set LogLevel to VERBOSE in sshd_config. sshd keeps")
