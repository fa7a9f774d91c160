"""The script's walk over a log, event by event: which order of events it accepts, and what it says of any other."""

import json

import pytest

from app.evidence.verify import (
    BrokenPack,
    _check_change_approvals,
    _check_reboot_approval,
    _read_checked_needs,
    compute_sha256,
)

RULES = {"rules.json": json.dumps([{"id": "A", "irreversible": False}, {"id": "F", "irreversible": True}]).encode()}
PLAN = {"kind": "plan", "approach": "as the fix says"}
CHMOD, SCRIPT = {"do": "chmod"}, {"do": "run_vendor_script"}
STARTED = {"kind": "run.started"}
ATTEMPT = {"kind": "attempt.started"}
PROPOSED = {"kind": "action.proposed", "actions": [CHMOD]}
ALLOWED = {"kind": "action.allowed"}
APPLYING = {"kind": "action.applying", "rule": "A", "journal": "j"}
APPLIED = {"kind": "action.applied", "journal": "j", "diff": "+x"}
PASSED, ESCALATED = {"kind": "item.passed"}, {"kind": "item.escalated"}
ROLLED_BACK = {"kind": "action.rolled_back"}
FINISHED, STOPPED, FAILED = ({"kind": f"run.{word}"} for word in ("finished", "stopped", "failed"))
GIVEN = {"kind": "approval.given", "approval": "a", "by": "Ada", "via": "session"}
REFUSED, EXPIRED = ({"kind": f"approval.{word}", "approval": "a"} for word in ("refused", "expired"))
EDITED = {"kind": "approval.edited"}
MADE = (ATTEMPT, PLAN, PROPOSED, ALLOWED)


def bind(host="h", plan=PLAN, diff="+x"):
    return compute_sha256(b"\0".join([host.encode(), json.dumps(plan).encode(), diff.encode()]))


ASKED = {"kind": "approval.requested", "approval": "a", "diff": "+x", "binds": bind()}


def number(*events, **request):
    """The events as a log has them, after the order of a run."""
    queued = {"kind": "run.queued", "host": "h", "mode": "auto", "by": "Eve", **request}
    return [
        (b'{"run":"r",' + json.dumps(event).encode()[1:], {"seq": seq, "run": "r", **event})
        for seq, event in enumerate((queued, *events), 1)
    ]


ACCEPTED = {
    "nothing is changed": (),
    "a change passes": (*MADE, APPLYING, APPLIED, PASSED, FINISHED),
    "a change is rolled back": (*MADE, APPLYING, APPLIED, ROLLED_BACK, ESCALATED, FINISHED),
    "a change is cut before it is applied": (*MADE, APPLYING, ROLLED_BACK, APPLYING, APPLIED, PASSED),
    "a run fails with a change open": (*MADE, APPLYING, APPLIED, FAILED),
    "two items pass": (
        *MADE,
        APPLYING,
        APPLIED,
        PASSED,
        *MADE,
        {**APPLYING, "journal": "k"},
        {**APPLIED, "journal": "k"},
    ),
    "a person agrees, though nobody had to": (*MADE, ASKED, GIVEN, APPLYING, APPLIED),
    "the first versions kept no diff": (*MADE, {**ASKED, "diff": "", "binds": bind(diff="")}),
    "the first versions recorded no diff": (*MADE, {"kind": "approval.requested", "approval": "a", "binds": "old"}),
    "an approval of the reboot binds no change": (*MADE, {**ASKED, "about": "reboot", "binds": "other"}),
    "what is said to be of a change binds it": (*MADE, {**ASKED, "about": "change"}, GIVEN, APPLYING, APPLIED),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_order_of_events_that_the_loop_produces_is_accepted(name):
    _check_change_approvals(RULES, number(*ACCEPTED[name]))


LEAVE, APPROVAL = "without the policy's leave", "without the approval that it needs"
AGREED = (*MADE, ASKED, GIVEN)
OPEN = "goes on while a change is neither passed nor rolled back"
ANOTHER = "applied another change than the one before it announced"
UNASKED = "answers an approval that was not asked for"
UNBOUND = "bound to another host, plan or diff"
REVIEW, DRY_RUN = {"mode": "review"}, {"mode": "dry-run"}
ONE = {**ALLOWED, "needs": {"people": 1}}
FINAL = {**ALLOWED, "needs": {"people": 0, "risk": {"irreversible": True}}}
REJECTED = {
    "nothing allowed it": ((ATTEMPT, PLAN, PROPOSED, APPLYING), {}, LEAVE),
    "the policy refused it": ((*MADE, {"kind": "action.refused"}, APPLYING), {}, LEAVE),
    "another change was proposed": ((*MADE, PROPOSED, APPLYING), {}, LEAVE),
    "another attempt began": ((*MADE, ATTEMPT, APPLYING), {}, LEAVE),
    "a person wrote another": ((*MADE, EDITED, APPLYING), {}, LEAVE),
    "it was to change nothing": ((*MADE, APPLYING), DRY_RUN, APPROVAL),
    "a person had to see it": ((*MADE, APPLYING), REVIEW, APPROVAL),
    "a person was only asked": ((*MADE, ASKED, APPLYING), REVIEW, APPROVAL),
    "the rule cannot be undone": ((*MADE, {**APPLYING, "rule": "F"}), {}, APPROVAL),
    "the change cannot be undone": ((*MADE[:3], FINAL, APPLYING), {}, APPROVAL),
    "it is the vendor's script": (
        (*MADE[:2], {**PROPOSED, "actions": [CHMOD, SCRIPT]}, ALLOWED, APPLYING),
        {},
        APPROVAL,
    ),
    "the rules ask for a person": ((*MADE[:3], ONE, APPLYING), {}, APPROVAL),
    "it was allowed anew since": ((*AGREED, ALLOWED, APPLYING), REVIEW, APPROVAL),
    "it was asked anew since": ((*AGREED, ASKED, APPLYING), REVIEW, APPROVAL),
    "it was refused since": ((*AGREED, REFUSED, APPLYING), REVIEW, APPROVAL),
    "it expired since": ((*AGREED, EXPIRED, APPLYING), REVIEW, APPROVAL),
    "nobody was asked": ((*MADE, GIVEN), {}, UNASKED),
    "nobody was asked again": ((*AGREED, PROPOSED, ALLOWED, GIVEN), {}, UNASKED),
    "another approval is meant": ((*MADE, ASKED, {**GIVEN, "approval": "b"}), {}, UNASKED),
    "another is refused": ((*MADE, ASKED, {**REFUSED, "approval": "b"}), {}, UNASKED),
    "another has expired": ((*MADE, ASKED, {**EXPIRED, "approval": "b"}), {}, UNASKED),
    "another diff is shown": ((*MADE, {**ASKED, "diff": "+y"}), {}, UNBOUND),
    "another host is meant": ((*MADE, {**ASKED, "binds": bind(host="i")}), {}, UNBOUND),
    "another plan is meant": ((*MADE, {**PLAN, "approach": "another"}, ASKED), {}, UNBOUND),
    "another journal is applied": ((*MADE, APPLYING, {**APPLIED, "journal": "k"}), {}, ANOTHER),
    "nothing was announced": ((*MADE, APPLIED), {}, ANOTHER),
    "it was rolled back before": ((*MADE, APPLYING, ROLLED_BACK, APPLIED), {}, ANOTHER),
    "another diff is applied": ((*AGREED, APPLYING, {**APPLIED, "diff": "+y"}), {}, ANOTHER),
    "an item is left with it": ((*MADE, APPLYING, ESCALATED), {}, OPEN),
    "a run finishes with it": ((*MADE, APPLYING, APPLIED, FINISHED), {}, OPEN),
    "a run stops with it": ((*MADE, APPLYING, APPLIED, STOPPED), {}, OPEN),
}


@pytest.mark.parametrize("name", REJECTED)
def test_any_other_order_is_named_by_its_event(name):
    events, request, told = REJECTED[name]
    with pytest.raises(BrokenPack, match=rf"event \d+ .*{told}|the approval that event \d+ asks for is {told}"):
        _check_change_approvals(RULES, number(*events, **request))


@pytest.mark.parametrize("events", [(*MADE, ASKED, GIVEN), (*MADE, ASKED, GIVEN, PLAN), (*MADE, ASKED, REFUSED, GIVEN)])
def test_an_approval_holds_for_whatever_would_need_one(events):
    for request, more in ((REVIEW, {}), ({}, {"rule": "F"})):
        _check_change_approvals(RULES, number(*events, {**APPLYING, **more}, **request))


POLICY = {"file": "approvals.txt", "sha256": "d", "line": 9, "otherwise": 0, "rules": [{"line": 4, "people": 2}]}
BEGUN = {**STARTED, "approvals": POLICY}


def need(people, line=4, sha256="d"):
    return {**ALLOWED, "needs": {"people": people, "by": f"approvals.txt line {line}", "sha256": sha256}}


TWO = (BEGUN, *MADE[:3], need(2))
SECOND = {**GIVEN, "by": "Bob"}


@pytest.mark.parametrize(
    ("people", "holds"),
    [
        ((GIVEN, SECOND), True),
        ((GIVEN, {**SECOND, "via": "token"}), True),
        ((GIVEN, {**SECOND, "via": "terminal"}), False),
        (({**GIVEN, "via": ""}, SECOND), False),
        ((GIVEN, {**GIVEN, "by": "ADA"}), False),
        ((GIVEN, {**SECOND, "made_by": ["ada"]}), False),
        (({**GIVEN, "made_by": ["Bob"]}, SECOND), False),
        ((GIVEN, {**SECOND, "made_by": ["eve"]}), False),
        ((GIVEN, {**SECOND, "made_by": ["BOB"]}), True),
        ((GIVEN, {**SECOND, "made_by": ["Cy"]}), True),
        (({**GIVEN, "by": "Eve", "made_by": ["Eve"]}, SECOND), True),
        ((GIVEN,), False),
    ],
)
def test_two_people_are_two_who_signed_in_and_a_token_counts_for_who_made_it(people, holds):
    events = number(*TWO, ASKED, *people, APPLYING)
    if holds:
        _check_change_approvals(RULES, events)
    else:
        with pytest.raises(BrokenPack, match=APPROVAL):
            _check_change_approvals(RULES, events)


@pytest.mark.parametrize("asker", [{"by": "Eve"}, {"by": "", "whose": "EVE"}, {}])
def test_a_token_that_who_asked_or_edited_made_for_somebody_never_counts(asker):
    lent = {**GIVEN, "made_by": ["Eve"]}
    by = {**PROPOSED, "by": "eve"} if not asker else PROPOSED
    made = (*MADE[:2], by, ALLOWED, ASKED)
    with pytest.raises(BrokenPack, match=APPROVAL):
        _check_change_approvals(RULES, number(*made, lent, APPLYING, **{"by": "", **asker, **REVIEW}))
    _check_change_approvals(
        RULES, number(*made, {**GIVEN, "made_by": ["Cy"]}, APPLYING, **{"by": "", **asker, **REVIEW})
    )


@pytest.mark.parametrize(
    ("needs", "holds"),
    [
        (need(2), True),
        (need(0, 9), True),
        (need(1, "of Temper"), True),
        (need(1), False),
        (need(1, 9), False),
        (need(2, "of Temper"), False),
        (need(2, sha256="e"), False),
        ({**ALLOWED}, False),
    ],
)
def test_how_many_people_are_asked_is_what_the_policy_of_the_run_says(needs, holds):
    event = {"seq": 5, **needs}
    assert _read_checked_needs(event, {}) == needs.get("needs", {}), "without a policy there is nothing to compare with"
    if holds:
        assert _read_checked_needs(event, POLICY) == needs["needs"]
    else:
        with pytest.raises(BrokenPack, match=r"event 5 asks for other people than approvals\.txt does"):
            _read_checked_needs(event, POLICY)


def bind_reboot(host="h", diff="what"):
    return compute_sha256(b"\0".join([host.encode(), b"reboot", diff.encode()]))


REBOOT = {"kind": "reboot.announced"}
ASKED_FOR_REBOOT = {**ASKED, "about": "reboot", "diff": "what", "binds": bind_reboot(), "needs": {"people": 1}}
BY_TWO = {**ASKED_FOR_REBOOT, "needs": need(2)["needs"]}
UNAPPROVED = "reboots the host without the approval that it needs"


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((STARTED,), ""),
        (({**STARTED, "disposable": True}, REBOOT), ""),
        (({**STARTED, "disposable": False}, REBOOT), UNAPPROVED),
        ((STARTED, REBOOT), UNAPPROVED),
        ((REBOOT, STARTED), UNAPPROVED),
        ((STARTED, ASKED_FOR_REBOOT, GIVEN, REBOOT), ""),
        ((STARTED, ASKED_FOR_REBOOT, REBOOT), UNAPPROVED),
        ((STARTED, ASKED_FOR_REBOOT, GIVEN, ASKED_FOR_REBOOT, REBOOT), UNAPPROVED),
        ((STARTED, ASKED, GIVEN, REBOOT), UNAPPROVED),
        ((STARTED, ASKED_FOR_REBOOT, GIVEN, ASKED, GIVEN, REBOOT), UNAPPROVED),
        ((STARTED, ASKED, ASKED_FOR_REBOOT, {**GIVEN, "made_by": ["Eve"]}, REBOOT), UNAPPROVED),
        ((BEGUN, BY_TWO, GIVEN, REBOOT), UNAPPROVED),
        ((BEGUN, BY_TWO, GIVEN, SECOND, REBOOT), ""),
        ((BEGUN, ASKED_FOR_REBOOT), "asks for other people"),
        ((STARTED, {**ASKED_FOR_REBOOT, "binds": bind_reboot(host="i")}), "bound to another reboot"),
        ((STARTED, {**ASKED_FOR_REBOOT, "diff": "else"}), "bound to another reboot"),
    ],
)
def test_a_host_that_is_not_disposable_is_rebooted_only_by_an_approval_of_that(events, told):
    if told:
        with pytest.raises(BrokenPack, match=told):
            _check_reboot_approval(number(*events))
    else:
        _check_reboot_approval(number(*events))


def test_the_policy_at_the_runs_start_counts_for_all_that_follows():
    for needs in (need(1), need(2, sha256="e")):
        with pytest.raises(BrokenPack, match=r"event 6 asks for other people than approvals\.txt does"):
            _check_change_approvals(RULES, number(BEGUN, *MADE[:3], needs, APPLYING))


def test_where_nothing_says_how_many_people_one_who_is_not_signed_in_counts():
    unsigned = {**GIVEN, "via": "terminal"}
    _check_change_approvals(RULES, number(*MADE, ASKED, unsigned, APPLYING, **REVIEW))
