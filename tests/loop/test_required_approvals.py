"""How many people a change takes: by the file, and by what no file can lower."""

import asyncio
import itertools

import pytest
from msgspec.structs import replace

from app.events.approval_policy import UNKNOWN_MAKER, ApprovalPolicy, ApprovalRule, Approver, ChangeRisk
from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionApplied,
    ActionProposed,
    ActionsAllowed,
    ApprovalGiven,
    ApprovalRequested,
    ItemDeferred,
    ItemPassed,
    RunStarted,
)
from app.loop.required_approvals import (
    count_people,
    decide_people_for_reboot,
    decide_people_needed,
    explain_uncounted_approval,
    list_askers,
)
from tests.loop.onfixture import OnFixture
from tests.loop.playing import pack, request

PLAIN = ChangeRisk(category="II", breaks=("audit",), cuts_the_line=False, irreversible=False, replayed=False)
CUTS = ChangeRisk(category="I", breaks=("remote login",), cuts_the_line=True, irreversible=False, replayed=False)
FOREVER = ChangeRisk(category="III", breaks=("audit",), cuts_the_line=False, irreversible=True, replayed=False)


def policy(*rules, otherwise=0):
    return ApprovalPolicy(file="a.toml", sha256="f", rules=rules, otherwise=otherwise, line=1)


def asked(given, mode, risk):
    found = decide_people_needed(given, mode, risk)
    return found.people, found.by


def test_without_a_file_it_is_as_it_always_was():
    assert [asked(None, mode, PLAIN)[0] for mode in ("auto", "review", "dry-run")] == [0, 1, 0]
    assert [asked(None, mode, FOREVER)[0] for mode in ("auto", "review")] == [1, 1]


def test_no_file_and_no_mode_lets_a_vendors_script_run_unasked():
    theirs = replace(PLAIN, vendor=True)
    assert [asked(None, mode, theirs)[0] for mode in ("auto", "review")] == [1, 1]
    assert asked(policy(otherwise=0), "auto", theirs)[0] == 1
    assert asked(policy(otherwise=2), "auto", theirs)[0] == 2


@pytest.mark.parametrize(
    ("given", "people", "by", "sha256"),
    [
        (None, 1, "Temper's own rule", ""),
        (policy(otherwise=0), 1, "Temper's own rule", "f"),
        (policy(otherwise=1), 1, "a.toml line 1", "f"),
        (policy(otherwise=2), 2, "a.toml line 1", "f"),
        (policy(ApprovalRule(line=4, people=2, cuts_the_line=True)), 2, "a.toml line 4", "f"),
    ],
)
def test_a_reboot_of_a_host_that_is_not_disposable_takes_a_person_whatever_the_file_says(given, people, by, sha256):
    needs = decide_people_for_reboot(given)
    assert (needs.people, needs.by, needs.sha256) == (people, by, sha256)


@pytest.mark.parametrize(
    ("request_", "proposed", "askers"),
    [
        (None, None, ()),
        ({"by": "ada", "whose": ""}, None, ("ada",)),
        ({"by": "a schedule", "whose": "bob"}, "cy", ("a schedule", "bob", "cy")),
        ({"by": "", "whose": ""}, "", ()),
    ],
)
def test_who_ordered_a_run_and_who_edited_its_change_have_asked_for_it(request_, proposed, askers):
    order = request_ and replace(request(pack([])), **request_)
    edit = (
        None
        if proposed is None
        else ActionProposed(rule="A", attempt=1, actions=(), note="", fingerprint="", diff="", by=proposed)
    )
    assert list_askers(order, edit) == askers


def test_the_first_rule_that_fits_decides_and_is_named():
    rules = policy(
        ApprovalRule(line=4, people=2, cuts_the_line=True),
        ApprovalRule(line=8, people=1, breaks=("remote login", "audit")),
    )
    assert asked(rules, "auto", CUTS) == (2, "a.toml line 4")
    assert asked(rules, "auto", PLAIN) == (1, "a.toml line 8")
    assert decide_people_needed(rules, "auto", CUTS).summary == "needs two people: could cut the line, by a.toml line 4"
    assert decide_people_needed(rules, "auto", PLAIN).why == "could break audit"
    assert asked(policy(otherwise=1), "auto", PLAIN) == (1, "a.toml line 1")


def test_no_file_lowers_what_mode_review_and_what_cannot_be_undone_ask_for():
    nobody = policy(ApprovalRule(line=2, people=0, category=("I", "II", "III")))
    assert asked(nobody, "review", PLAIN) == (1, "mode review")
    assert asked(nobody, "auto", FOREVER) == (1, "Temper's own rule")
    assert asked(nobody, "auto", PLAIN) == (0, "a.toml line 2")
    assert decide_people_needed(nobody, "review", PLAIN).sha256 == "f"


def by(name, via="session", *made_by):
    return Approver(name=name, via=via, made_by=made_by)


def test_a_token_counts_for_whoever_made_it_too():
    lent = by("bob", "token", "eve")
    for given, approver in (
        ([by("eve")], lent),
        ([lent], by("Eve")),
        ([lent], by("bob")),
        ([lent], by("carol", "token", "eve")),
        ([by("bob")], by("carol", "token", "eve", "bob")),
    ):
        assert "another person" in explain_uncounted_approval(2, given, approver, "read", [])
        assert count_people([*given, approver]) == 1
    assert explain_uncounted_approval(2, [by("ada")], lent, "read", ["ada"]) == ""
    assert count_people([by("ada"), lent, by("carol")]) == 3
    assert "bring a new token" in explain_uncounted_approval(2, [], by("bob", "token", UNKNOWN_MAKER), "read", [])
    assert explain_uncounted_approval(1, [], by("bob", "token", UNKNOWN_MAKER), "", ["eve"]) == ""


def test_a_token_never_approves_what_its_maker_asked_for():
    for of in (1, 2):
        said = explain_uncounted_approval(of, [], by("bob", "token", "eve"), "read", ["Eve"])
        assert said == "eve asked for this and made this token of bob: bob signs in to approve it."
        assert explain_uncounted_approval(of, [], by("bob", "token", "eve"), "read", ["bob"]) == ""
        assert explain_uncounted_approval(of, [], by("eve", "token", "bob", "eve"), "read", ["eve"]) == ""


def test_whose_yes_counts():
    assert explain_uncounted_approval(1, [], by("root", "terminal"), "", []) == ""
    assert explain_uncounted_approval(2, [], by("ada", "token"), "read", ["ada"]) == ""
    assert explain_uncounted_approval(2, [by("bob")], by("ada"), "read", ["ada"]) == ""
    for name, via, reason, says in (
        ("ada", "demo", "x", "nobody has said who they are"),
        ("ada", "terminal", "x", "bring a token"),
        ("ada", "", "x", "bring a token"),
        ("ADA", "token", "x", "another person"),
        ("bob", "token", " ", "each gives a reason"),
    ):
        assert says in explain_uncounted_approval(2, [by("ada")], by(name, via), reason, [])


async def two_people(here):
    """Each says yes to whatever is asked."""
    for count in itertools.count(1):
        await here.kept.until(ApprovalRequested, count=count)
        asked = here.events(ApprovalRequested)[-1]
        for by in ("ada", "ada", "bob"):
            here.person.says("approve", by=by, via="token", reason="read it", approval=asked.approval)


async def test_a_run_in_mode_auto_waits_for_two_people_where_the_file_says_so_and_for_nobody_elsewhere(tmp_path):
    rules = policy(ApprovalRule(line=3, people=2, breaks=("remote login",)))
    here = OnFixture(tmp_path / "host", approvals=rules)
    people = asyncio.create_task(two_people(here))
    await here.run("V-257985", "V-258074")
    people.cancel()
    assert here.events(RunStarted)[0].approvals == rules
    allowed = {event.rule: event.needs for event in here.events(ActionsAllowed)}
    assert (allowed["V-257985"].people, allowed["V-257985"].by) == (2, "a.toml line 3")
    assert (allowed["V-258074"].people, allowed["V-258074"].sha256) == (0, "f")
    asked = len(here.events(ApprovalRequested))
    assert [(one.by, one.given) for one in here.events(ApprovalGiven)] == [("ada", 1), ("bob", 2)] * asked
    assert {event.rule for event in here.events(ItemPassed)} == {"V-257985", "V-258074"}


async def test_one_of_two_in_time_is_not_enough(tmp_path):
    rules = policy(otherwise=2)
    here = OnFixture(tmp_path / "host", approvals=rules)
    run = asyncio.create_task(here.run("V-257985", budget=Budget(approval_seconds=3.0)))
    await here.kept.until(ApprovalRequested, count=1)
    asked = here.events(ApprovalRequested)[-1]
    here.person.says("approve", by="ada", via="token", reason="read it", approval=asked.approval)
    await run
    (left,) = here.events(ItemDeferred)
    assert left.reason == "only ada approved it in time"
    assert here.events(ActionApplied) == []
