import pytest

from app.events.kinds import (
    ActionApplied,
    ActionRolledBack,
    AttemptReflected,
    AttemptStarted,
    ItemDeferred,
    RunQueued,
    SentryAlarm,
    TurnFinished,
    VerdictGiven,
)
from app.events.vocabulary import Budget, FileChange
from app.loop.descriptions import EventDescription, describe_event


def queued(**more):
    return RunQueued(host="h", skill="stig", rules=("V-1",), mode="auto", budget=Budget(), lineup="l4", **more)


@pytest.mark.parametrize(
    ("simulated", "pace", "words"),
    [
        (True, 3.0, "SIMULATED engines, at 3 times the measured pace"),
        (True, 0.0, "SIMULATED engines, as fast as they can"),
        (True, None, "SIMULATED engines, as fast as they can"),
        (False, None, "real engines"),
    ],
)
def test_a_run_says_what_plays_its_engines(simulated, pace, words):
    assert describe_event(queued(simulated=simulated, pace=pace)).text.endswith(words)


def test_a_rollback_that_leaves_a_difference_does_not_read_as_one_that_worked():
    def undone(*differences):
        return ActionRolledBack(
            rule="V-1", attempt=1, journal="j", paths=(), differences=differences, probes=(), seconds=0.002
        )

    assert describe_event(undone()) == EventDescription("↺", "undone", "Rolled back in 2 ms, verified")
    assert "NOT restored: /etc/x" in describe_event(undone("/etc/x")).text


def test_only_what_a_person_wants_to_know_is_told():
    assert describe_event(VerdictGiven(rule="V-1", phase="opening", word="fail", evidence="e", scanner="s")) is None
    assert describe_event(AttemptReflected(rule="V-1", attempt=1, decision="CONTINUE", reason="r", banned=())) is None
    end = {"turn": "t", "role": "worker", "purpose": "act", "detail": "gone", "thought": "", "answer": ""}
    assert describe_event(TurnFinished(outcome="answered", **end)) is None
    assert describe_event(TurnFinished(outcome="died", **end)).text == "Worker's turn came to nothing (died): gone"


def test_each_ending_has_its_own_shape():
    assert describe_event(ItemDeferred(rule="V-1", reason="waits")).glyph == "◷"
    assert describe_event(SentryAlarm(rule="V-1", attempt=1, reason="r", by="probe")).kind == "alarm"


def test_the_vendors_script_is_called_that():
    assert "the vendor's script" in describe_event(AttemptStarted(rule="V-1", attempt=3, lessons=(), vendor=True)).text
    changes = (FileChange("vendor:r", None, "a"), FileChange("/etc/x", "a", "b"))
    done = ActionApplied(rule="V-1", attempt=3, journal="j", diff="", changes=changes, seconds=0.1)
    assert describe_event(done).text == "The vendor's script changed /etc/x"
