"""Every kind declares its sentence, and what the sentences say."""

import pytest

from app.events.event_field_types import Budget, FileChange, Probe
from app.events.kinds import (
    ActionApplied,
    ActionRolledBack,
    AttemptReflected,
    AttemptStarted,
    Event,
    ItemDeferred,
    RebootCompared,
    RebootReturned,
    RunQueued,
    Sentence,
    SentryAlarm,
    TurnFinished,
    VerdictGiven,
    get_event_kind,
    list_leaf_event_types,
)


@pytest.mark.parametrize("kind", list_leaf_event_types(Event), ids=get_event_kind)
def test_every_kind_declares_its_sentence_or_that_it_stays_silent(kind):
    assert "describe" in vars(kind)


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
    assert queued(simulated=simulated, pace=pace).describe().text.endswith(words)


def test_a_rollback_that_leaves_a_difference_does_not_read_as_one_that_worked():
    def undone(*differences):
        return ActionRolledBack(
            rule="V-1", attempt=1, journal="j", paths=(), differences=differences, probes=(), seconds=0.002
        )

    assert undone().describe() == Sentence("Rolled back in 2 ms, verified", "↺", "undone")
    assert "NOT restored: /etc/x" in undone("/etc/x").describe().text


def test_only_what_a_person_wants_to_know_is_told():
    assert VerdictGiven(rule="V-1", phase="opening", word="fail", evidence="e", scanner="s").describe() is None
    assert AttemptReflected(rule="V-1", attempt=1, decision="CONTINUE", reason="r", banned=()).describe() is None
    end = {"turn": "t", "role": "worker", "purpose": "act", "detail": "gone", "thought": "", "answer": ""}
    assert TurnFinished(outcome="answered", **end).describe() is None
    assert TurnFinished(outcome="died", **end).describe().text == "Worker's turn came to nothing (died): gone"


def test_each_ending_has_its_own_shape():
    assert ItemDeferred(rule="V-1", reason="waits").describe().glyph == "◷"
    assert SentryAlarm(rule="V-1", attempt=1, reason="r", by="probe").describe().kind == "alarm"


def test_the_vendors_script_is_called_that():
    assert "the vendor's script" in AttemptStarted(rule="V-1", attempt=3, lessons=(), vendor=True).describe().text
    changes = (FileChange("vendor:r", None, "a"), FileChange("/etc/x", "a", "b"))
    done = ActionApplied(rule="V-1", attempt=3, journal="j", diff="", changes=changes, seconds=0.1)
    assert done.describe().text == "The vendor's script changed /etc/x"


def returned(*probes, **more):
    return RebootReturned(host="web1", boot="b2", seconds=41.2, probes=probes, **more).describe()


def test_a_reboot_says_how_long_it_took_and_which_logins_work():
    ok, not_ok = Probe("agent-login", True, ""), Probe("login-root", False, "refused")
    shells = Probe("login-shells", True, "a probe of files")
    assert returned(ok, shells).text == "web1 rebooted in 41 s; 1 login works"
    assert returned(ok, ok, ok) == Sentence("web1 rebooted in 41 s; 3 logins work", "↻", "plain")
    assert returned(ok, not_ok).text == "web1 rebooted in 41 s; 1 of 2 logins work"
    assert returned(ok, undone=True).kind == "alarm"


@pytest.mark.parametrize(
    ("held", "lost", "words"),
    [
        (("V-1",), (), "After the reboot the fix still holds"),
        ((), ("V-1",), "After the reboot 0 of 1 fixes still hold; V-1 came back"),
        (("V-1", "V-2"), ("V-3",), "After the reboot 2 of 3 fixes still hold; V-3 came back"),
    ],
)
def test_what_still_holds_is_counted_and_what_came_back_is_named(held, lost, words):
    assert RebootCompared(host="h", held=held, lost=lost).describe().text == words
