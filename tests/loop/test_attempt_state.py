"""An attempt, event by event: what it is known by, whom it waits for, and what a drift or a rollback takes back."""

import pytest
from msgspec.structs import replace

from app.events import kinds
from app.events.approval_policy import ChangeRisk, PeopleNeeded
from app.events.architect_questions_about_host import AnsweredQuestion, AskVerdict
from app.events.event_field_types import SetOption
from app.loop.attempt_state import Attempt, advance_attempt
from tests.loop.playing import FIX, SOUND

AT = {"rule": "A", "attempt": 1}
TEXTS = dict.fromkeys(("approach", "risk", "rollback", "validation"), "")
PLAN = kinds.PlanMade(**AT, **TEXTS, paths=("/etc/x",), steps=())
CHANGE = kinds.ActionProposed(
    **AT, actions=(SetOption(path="/etc/x", key="k", value="v"),), note="", fingerprint="f", diff=""
)
VERDICT = kinds.VerdictGiven(**AT, phase="attempt", word="pass", evidence="", scanner="s")
ASKED = kinds.ApprovalRequested(**AT, approval="a", binds="", expires=9.0)
GIVEN = kinds.ApprovalGiven(approval="a", by="ada", reason="")
REFUSED = kinds.ApprovalRefused(approval="a", by="ada", reason="")
EXPIRED = kinds.ApprovalExpired(approval="a", reason="")
DRIFTED = replace(EXPIRED, drifted=True)
EDITED = kinds.ApprovalEdited(approval="a", by="ada", reason="", actions=CHANGE.actions)
FAILED = kinds.AttemptFailed(**AT, cause="c", reason="")
APPLYING = kinds.ActionApplying(**AT, journal="j")
APPLIED = kinds.ActionApplied(**AT, journal="j", diff="", changes=(), seconds=0.0)
UNDONE = kinds.ActionRolledBack(**AT, journal="j", paths=(), differences=(), probes=SOUND, seconds=0.0)
FIELDS = {
    "plan": PLAN,
    "proposed": CHANGE,
    "refused": kinds.ActionRefused(**AT, action=None, clause="c", reason="r"),
    "rehearsed": kinds.Rehearsed(**AT, word="pass", evidence=""),
    "approval": ASKED,
    "disapproved": REFUSED,
    "expired": EXPIRED,
    "edited": EDITED,
    "applied": APPLIED,
    "change_failed": kinds.ActionFailedToApply(**AT, journal="j", reason=""),
    "verdict": VERDICT,
    "explained": kinds.VerdictExplained(**AT, explanation="", veto=False, reason=""),
    "probed": kinds.SentryProbed(**AT, probes=SOUND, drift=(), log=()),
    "force": kinds.InForceChecked(**AT),
    "clear": kinds.SentryClear(**AT, assessment=""),
    "alarm": kinds.SentryAlarm(**AT, reason="", by="probe"),
    "failed": FAILED,
    "facts": kinds.FactsGathered(**AT, facts=()),
    "reflected": kinds.AttemptReflected(**AT, decision="CONTINUE", reason="", banned=()),
}
ANSWERS = ("plan", "proposed", "explained", "clear", "alarm", "failed", "reflected")
"""What answers the question that a role was asked, so that the next one is counted anew."""


def follow(*events, **begun):
    attempt = Attempt(1, 0.0, **begun)
    for event in events:
        attempt = advance_attempt(attempt, event)
    return attempt


@pytest.mark.parametrize("name", FIELDS)
def test_each_event_is_known_by_its_field_and_an_answer_ends_the_count_of_turns(name):
    event, begun = FIELDS[name], Attempt(1, 0.0, fruitless=2)
    assert advance_attempt(begun, event) == replace(begun, fruitless=0 if name in ANSWERS else 2, **{name: event})


def test_an_event_of_something_else_changes_nothing():
    assert follow(kinds.RunPaused(by="ada"), kinds.ScanStarted(phase="closing", rules=1)) == Attempt(1, 0.0)


def finish(outcome, purpose="plan"):
    said = {"turn": "t", "role": "architect", "detail": "why", "thought": "", "answer": ""}
    return kinds.TurnFinished(**said, purpose=purpose, outcome=outcome)


def test_turns_without_a_usable_answer_are_counted_and_only_a_broken_one_is_complained_of():
    twice = follow(finish("broken"), finish("died"))
    assert (twice.fruitless, twice.complaint, twice.answered) == (2, "", frozenset())
    assert follow(finish("broken")).complaint == "why"
    told = follow(finish("broken"), finish("answered"), finish("answered", "act"))
    assert (told.fruitless, told.complaint, told.answered) == (1, "", {"plan", "act"})
    question = AnsweredQuestion(question=AskVerdict(), answer="a")
    asked = kinds.QuestionsAnswered(**AT, answers=(question,))
    assert follow(finish("died"), asked, asked) == Attempt(1, 0.0, inquired=(question, question))


@pytest.mark.parametrize(
    ("events", "waits"),
    [
        ((), False),
        ((ASKED,), True),
        ((ASKED, GIVEN), False),
        ((ASKED, REFUSED), False),
        ((ASKED, EXPIRED), False),
        ((ASKED, FAILED), False),
        ((ASKED, DRIFTED), False),
        ((ASKED, EDITED), False),
        ((GIVEN,), False),
    ],
)
def test_an_attempt_waits_for_a_person_from_the_request_to_its_end(events, waits):
    assert follow(*events).awaits_person == waits


def need(people, **risk):
    usual = {"category": "II", "breaks": (), "cuts_the_line": False, "replayed": False}
    of_change = ChangeRisk(**usual, **risk) if risk else None
    return kinds.ActionsAllowed(**AT, needs=PeopleNeeded(people=people, why="", by="", risk=of_change))


@pytest.mark.parametrize(
    ("people", "given", "approved"), [(0, 0, False), (0, 1, True), (1, 1, True), (2, 1, False), (2, 2, True)]
)
def test_it_is_approved_by_as_many_people_as_it_needs_and_at_least_by_one(people, given, approved):
    yes = [replace(GIVEN, by=name, via="session") for name in ("ada", "bob")[:given]]
    attempt = follow(need(people), ASKED, *yes)
    assert (attempt.people_required, attempt.is_approved) == (max(people, 1), approved)
    assert follow(ASKED, GIVEN).is_approved


@pytest.mark.parametrize("cause", [DRIFTED, EDITED])
def test_a_drift_and_an_edit_void_the_proposal_with_all_that_was_said_of_it(cause):
    kept = follow(PLAN, CHANGE, need(1), FIELDS["rehearsed"], ASKED, GIVEN, cause)
    edited = cause if cause is EDITED else None
    assert kept == Attempt(1, 0.0, plan=PLAN, edited=edited)


def test_a_change_that_a_crash_cut_is_as_if_it_had_never_been_applied():
    judged = (APPLIED, VERDICT, FIELDS["explained"], FIELDS["probed"], FIELDS["force"])
    attempt = follow(APPLYING, *judged)
    assert (attempt.journal, attempt.journals, attempt.has_apply_outcome) == ("j", 1, True)
    rolling = advance_attempt(attempt, kinds.ActionRollingBack(**AT, journal="j", cause="interrupted"))
    assert rolling.rolling_back
    assert advance_attempt(rolling, UNDONE) == Attempt(1, 0.0, journals=1, rolled_back=UNDONE)
    again = follow(APPLYING, *judged, UNDONE, replace(APPLYING, journal="k"))
    assert (again.journal, again.journals, again.rolled_back) == ("k", 2, None)


def test_after_a_failure_a_rollback_keeps_what_is_known_of_the_change():
    attempt = follow(APPLYING, APPLIED, VERDICT, FAILED, UNDONE)
    assert (attempt.applied, attempt.verdict, attempt.rolled_back, attempt.journal) == (APPLIED, VERDICT, UNDONE, None)
    assert attempt.has_apply_outcome
    assert follow(FIELDS["change_failed"]).has_apply_outcome
    assert not follow(APPLYING).has_apply_outcome


def test_a_repeated_fix_is_named_until_somebody_changes_its_actions():
    repeated = replace(CHANGE, replayed=FIX.id)
    assert follow(repeated).replayed_fix_id == FIX.id
    assert follow(repeated, EDITED).replayed_fix_id == follow(repeated, CHANGE).replayed_fix_id == ""


def test_what_no_rollback_takes_back_is_known_of_the_change():
    warned = follow(need(1, irreversible=True, warnings=("until the next boot",)))
    assert (warned.is_irreversible, warned.warnings) == (True, ("until the next boot",))
    assert not follow(need(1, irreversible=False)).is_irreversible
    for plain in (follow(), follow(need(1))):
        assert (plain.is_irreversible, plain.warnings) == (False, ())
