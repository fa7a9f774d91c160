import pytest
from msgspec.structs import replace

from app.events.event_field_types import FileChange, PendingSetting
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionProposed,
    ActionRolledBack,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    AttemptFailed,
    AttemptStarted,
    InForceChecked,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    RebootCompared,
    SentryClear,
    VerdictGiven,
)
from app.evidence.finding_text import (
    describe_actions_taken,
    describe_approval_answer,
    describe_outcome,
    describe_scanner_verdicts,
    format_scanner_verdict,
)
from tests.evidence.logs import plain_case
from tests.loop.playing import FIX

RULE, OTHER, UNSEEN = "V-257984", "V-257985", "V-257986"
LATE = PendingSetting(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")


def passed(*behind, more=()):
    made = ActionApplied(rule=RULE, attempt=1, journal="j", diff="", changes=(), seconds=0)
    between = [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(rule=RULE, attempt=1, lessons=()),
        ActionApplying(rule=RULE, attempt=1, journal="j"),
        made,
        InForceChecked(rule=RULE, attempt=1, asked=("sysctl",), behind=behind),
        ItemPassed(rule=RULE, attempts=1),
        *more,
    ]
    case = plain_case({RULE: "fail"}, {RULE: "pass"}, between)
    return case, case.requested_rules[0]


def test_what_is_set_and_not_in_force_is_said_where_the_pass_is():
    case, one = passed(LATE)
    assert "Set, not in force: kernel.x is 0, 1 wanted: a reboot" in describe_scanner_verdicts(case, one)
    assert describe_outcome(case, one) == "passed at attempt 1; set, not in force: kernel.x is 0, 1 wanted: a reboot"
    assert "set, not in force" in describe_actions_taken(case, one)


def test_what_is_in_force_needs_no_word():
    case, one = passed()
    assert "in force" not in describe_scanner_verdicts(case, one) + describe_outcome(case, one)


@pytest.mark.parametrize(
    ("held", "words"), [((RULE,), "passed at attempt 1, and holds after the reboot"), ((), "passed at attempt 1")]
)
def test_a_rule_holds_after_the_reboot_if_the_comparison_names_it(held, words):
    case, one = passed(more=[RebootCompared(host="web-1", held=held)])
    assert describe_outcome(case, one) == words


def test_a_rule_that_another_change_fixed_names_no_attempt():
    between = [ItemStarted(rule=RULE, title="", category="I"), ItemPassed(rule=RULE, attempts=0)]
    case = plain_case({RULE: "fail"}, {RULE: "pass"}, between)
    assert describe_outcome(case, case.requested_rules[0]) == "passed because of a change for another rule"


def test_a_rule_without_an_attempt_says_why():
    words = {RULE: "pass", OTHER: "unknown"}
    case = plain_case(words, words, rules=(RULE, OTHER, UNSEEN))
    outcomes = {one.rule.id: describe_outcome(case, one) for one in case.judged}
    assert outcomes[RULE] == "passed before the run; nothing was done"
    assert outcomes[OTHER] == "not attempted: the scanner said unknown"
    assert outcomes[UNSEEN] == "not scanned"
    assert outcomes["V-257981"] == "not part of the run"


@pytest.mark.parametrize(
    ("waiver", "words"), [("w1", "left alone, because it was waived"), ("", "skipped: not in this window")]
)
def test_a_waived_rule_is_left_alone_and_a_skipped_one_has_a_reason(waiver, words):
    skipped = ItemSkipped(rule=RULE, reason="not in this window", waiver=waiver)
    case = plain_case({RULE: "fail"}, {RULE: "fail"}, [skipped])
    assert describe_outcome(case, case.requested_rules[0]) == words


@pytest.mark.parametrize(
    ("verdict", "place"),
    [
        ({"path": "/etc/x", "line": 3}, " (/etc/x line 3)"),
        ({"path": "/etc/x"}, " (/etc/x)"),
        ({"path": "/etc/x", "line": 3, "evidence": "/etc/x says no"}, ""),
        ({}, ""),
    ],
)
def test_a_verdict_names_the_place_unless_its_evidence_does(verdict, place):
    given = VerdictGiven(
        **{"rule": RULE, "phase": "opening", "word": "fail", "evidence": "no", "scanner": "s", **verdict}
    )
    assert format_scanner_verdict(given) == f"scanner s says fail: {given.evidence}{place}"


@pytest.mark.parametrize("replayed", [FIX.id, ""])
def test_where_a_fix_comes_from_is_said_of_an_attempt_that_repeats_it(replayed):
    at = {"rule": RULE, "attempt": 1}
    between = [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(**at, lessons=(), offered=FIX),
        ActionProposed(**at, actions=FIX.actions, note="", fingerprint="f", diff="", replayed=replayed),
    ]
    case = plain_case({RULE: "fail"}, {RULE: "fail"}, between)
    assert (FIX.provenance in describe_actions_taken(case, case.requested_rules[0])) == bool(replayed)


YES = ApprovalGiven(approval="a", by="ada", reason="", given=1, of=1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (YES, "approved by ada"),
        (replace(YES, reason="fine", given=2, of=2), "approved by ada, 2 of 2: fine"),
        (ApprovalRefused(approval="a", by="ada", reason="no"), "refused by ada: no"),
        (ApprovalEdited(approval="a", by="ada", reason="", actions=()), "edited by ada"),
        (ApprovalExpired(approval="a", reason="late"), "approval void: late"),
    ],
)
def test_what_people_answered_is_told_with_their_reason(answer, words):
    assert describe_approval_answer(answer) == words


UNDONE = ActionRolledBack(rule=RULE, attempt=1, journal="j", paths=(), differences=(), probes=(), seconds=0.0)
CHANGED = ActionApplied(
    rule=RULE,
    attempt=1,
    journal="j",
    diff="",
    seconds=0.0,
    changes=tuple(FileChange(one, "x", "y") for one in ("/a", "/b")),
)
HARM = AttemptFailed(rule=RULE, attempt=1, cause="alarm", reason="shut out")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((), "nothing was changed"),
        ((CHANGED, HARM, UNDONE), "changed /a, /b; alarm: shut out; rolled back, and the rollback verified"),
        (
            (CHANGED, HARM, replace(UNDONE, differences=("/a differs",))),
            "changed /a, /b; alarm: shut out; rollback left /a differs",
        ),
        ((CHANGED, SentryClear(rule=RULE, attempt=1, assessment="")), "changed /a, /b; kept"),
    ],
)
def test_what_became_of_an_attempt_is_told_step_by_step(events, told):
    begun = (ItemStarted(rule=RULE, title="", category="I"), AttemptStarted(rule=RULE, attempt=1, lessons=()))
    case = plain_case({RULE: "fail"}, {RULE: "fail"}, [*begun, *events])
    assert f"\nAttempt 1: {told}." in describe_actions_taken(case, case.requested_rules[0])
