"""What the page says of now, for somebody who has never seen a run."""

import pytest
from msgspec.structs import replace

from app.events.kinds import (
    ActionApplied,
    ActionRolledBack,
    AttemptStarted,
    ItemPassed,
    LessonLearnt,
    RunFinished,
    RunPreparing,
    RunQueued,
    RunScoped,
    RunStarted,
    ScanProgressed,
    SentryAlarm,
    SentryProbed,
    TurnStarted,
)
from app.web.pages.mission.caption import describe_alarm, write_caption
from app.web.pages.mission.mission import Mission
from tests.web.pages.mission_log import FIRST, log, upto, verdict


def said(events):
    mission = Mission()
    for recorded in events:
        mission.apply_event(recorded)
    return write_caption(mission)


@pytest.mark.parametrize(
    ("kind", "nth", "words"),
    [
        (RunStarted, 1, "Scanning the whole host. Nothing has been changed yet."),
        (RunScoped, 1, "On to the next finding."),
        (AttemptStarted, 1, "The Architect plans the fix next."),
        (ActionApplied, 1, "The change is made. The scanner is checking it."),
        (SentryProbed, 1, "The Sentry is looking for damage"),
        (SentryAlarm, 1, "The Sentry found the nightly backup locked out. Undoing."),
        (ActionRolledBack, 1, "The Sentry found the nightly backup locked out. Undone, verified byte for byte."),
        (LessonLearnt, 1, "locked out. Undone, verified byte for byte. A lesson is recorded."),
        (ItemPassed, 1, "On to the next finding."),
        (RunFinished, 1, "The run is finished."),
    ],
)
def test_each_moment_has_a_plain_sentence(kind, nth, words):
    assert words in said(upto(kind, nth))


def test_where_no_role_plans_it_is_not_said_to():
    told = [one.event for one in upto(AttemptStarted)]
    told[-1] = replace(told[-1], why_roles_stopped="spent")
    assert said(log(told)) == "The next proposal is tried, without a plan of a role."


def test_a_scan_that_takes_longer_is_counted():
    scanning = ScanProgressed(phase="opening", judged=120, rules=316)
    assert said([*upto(RunStarted, 1), *log([scanning])]) == (
        "Scanning the whole host: 120 of 316 rules. Nothing has been changed yet."
    )


def test_a_host_that_is_being_read_is_said_to_be():
    queued = [one.event for one in upto(RunQueued)]
    assert said(log(queued)) == "Queued: runs on the same host go one after the other."
    assert said(log([*queued, RunPreparing(worker="w")])).startswith("Reading how the host is before any change")


def test_an_alarm_that_the_model_raised_is_told_in_its_own_words():
    alarm = SentryAlarm(rule="R", attempt=1, reason="sshd restarts every second.", by="sentry")
    assert describe_alarm(alarm) == "The Sentry raised an alarm: sshd restarts every second."


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("pass", "The scanner says pass. The Auditor is checking that the fix is real"),
        ("fail", "The scanner says fail. The Auditor is reading the reason."),
    ],
)
def test_the_auditor_does_what_the_verdict_leaves_to_do(word, words):
    asked = {"rule": FIRST, "attempt": 1, "purpose": "review", "model": "m", "replica": 0, "max_tokens": 1}
    told = [one.event for one in upto(ActionApplied)]
    told += [verdict(FIRST, "attempt", word, 1)]
    told += [TurnStarted(turn="t", role="auditor", engine="gemma-e4b", prompt=("", ""), **asked)]
    assert said(log(told)).startswith(words)
