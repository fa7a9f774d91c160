"""One item as it goes wrong and right again, event by event: the change passes, harms, is undone, and teaches."""

from app.events.event_field_types import Budget, Lesson, Probe
from app.events.kinds import (
    ActionApplied,
    ActionProposed,
    ActionRolledBack,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    ItemEscalated,
    ItemPassed,
    ItemStarted,
    LessonLearnt,
    RunFinished,
    RunQueued,
    RunScoped,
    RunStarted,
    ScanFinished,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    VerdictExplained,
    VerdictGiven,
)
from app.events.record import GENESIS, build_recorded_event

FIRST, SECOND = "V-257985", "V-257984"
LOCKED = "backup-login: new login as root for the nightly backup: refused"
LESSON = Lesson(id="l1", rule=FIRST, mechanism="m", environment="e", advice="Give the backup a login of its own.")


def verdict(rule, phase, word, attempt=0):
    return VerdictGiven(rule=rule, phase=phase, word=word, evidence="", scanner="built-in", attempt=attempt)


def changed(number):
    at = {"rule": FIRST, "attempt": number}
    return [
        AttemptStarted(**at, lessons=(LESSON,) if number > 1 else ()),
        ActionProposed(**at, actions=(), note="", fingerprint=str(number), diff="--- a\n+++ b/etc/x\n-no\n+yes\n"),
        ActionApplied(**at, journal="j", diff="", changes=(), seconds=0.1),
        verdict(FIRST, "attempt", "pass", number),
        VerdictExplained(**at, explanation="fine", veto=False, reason=""),
        SentryProbed(**at, probes=(Probe("backup-login", number > 1, "refused"),), drift=(), log=()),
    ]


EVENTS = [
    RunQueued(
        host="fixture",
        skill="stig",
        rules=(FIRST, SECOND),
        mode="auto",
        budget=Budget(),
        lineup="simulated",
        simulated=True,
    ),
    RunStarted(worker="w", confinement="none", scanner="built-in", probes=()),
    verdict(FIRST, "opening", "fail"),
    verdict(SECOND, "opening", "fail"),
    ScanFinished(phase="opening", seconds=0.1),
    RunScoped(order=(FIRST, SECOND), compliant=(), undecided=()),
    ItemStarted(rule=FIRST, title="root does not log in over SSH", category="II"),
    *changed(1),
    SentryAlarm(rule=FIRST, attempt=1, reason=LOCKED, by="probe"),
    AttemptFailed(rule=FIRST, attempt=1, cause="alarm", reason=LOCKED),
    ActionRolledBack(rule=FIRST, attempt=1, journal="j", paths=(), differences=(), probes=(), seconds=0.09),
    LessonLearnt(rule=FIRST, attempt=1, lesson=LESSON),
    AttemptReflected(rule=FIRST, attempt=1, decision="CONTINUE", reason="", banned=()),
    *changed(2),
    SentryClear(rule=FIRST, attempt=2, assessment="all can log in"),
    ItemPassed(rule=FIRST, attempts=2, lessons=("l1",)),
    ItemStarted(rule=SECOND, title="no blank passwords", category="I"),
    ItemEscalated(rule=SECOND, reason="the scanner <may> err"),
    verdict(FIRST, "closing", "pass"),
    verdict(SECOND, "closing", "fail"),
    ScanFinished(phase="closing", seconds=0.1),
    RunFinished(passed=1, escalated=1, skipped=0, deferred=0, regressions=(), tree=""),
]


def log(events=EVENTS):
    """Ten seconds from one to the next."""
    told, previous = [], GENESIS
    for seq, event in enumerate(events, 1):
        told.append(build_recorded_event("r", seq, 1000.0 + 10 * seq, event, previous))
        previous = told[-1].hash
    return told


def upto(kind, nth=1):
    """The log until the nth event of this kind, with it."""
    seen = [number for number, event in enumerate(EVENTS, 1) if isinstance(event, kind)]
    return log()[: seen[nth - 1]]
