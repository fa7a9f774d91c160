"""The log of a run that ends with a reboot, event by event: it fixes a rule, asks, reboots and compares."""

import hashlib

from app.events.approval_policy import PeopleNeeded
from app.events.event_field_types import Budget, Probe
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ApprovalGiven,
    ApprovalRequested,
    AttemptStarted,
    ItemPassed,
    ItemStarted,
    RebootAnnounced,
    RebootCompared,
    RebootReturned,
    RunFinished,
    RunQueued,
    RunScoped,
    RunStarted,
    ScanFinished,
    VerdictGiven,
)

RULE, HOST = "V-257984", "web1"
ASKED_FOR = f"Reboot {HOST} now, and check 1 fix afterwards: {RULE}"
BINDS = hashlib.sha256(f"{HOST}\0reboot\0{ASKED_FOR}".encode()).hexdigest()
OF_RULE = {"rule": RULE, "attempt": 1}
QUEUED = RunQueued(
    host=HOST, skill="stig", rules=(RULE,), mode="auto", budget=Budget(), lineup="simulated", simulated=True, by="ada",
    reboot=True,
)  # fmt: skip
SEEN = VerdictGiven(rule=RULE, phase="opening", word="fail", evidence="open", scanner="built-in")
HELD = VerdictGiven(rule=RULE, phase="closing", word="pass", evidence="held", scanner="built-in")
NEEDS = PeopleNeeded(people=1, why="the host is not disposable", by="Temper's own rule")
ASKED = ApprovalRequested(
    approval="r1.reboot.0.11",
    rule="",
    attempt=0,
    binds=BINDS,
    expires=2e10,
    diff=ASKED_FOR,
    needs=NEEDS,
    about="reboot",
)
YES = ApprovalGiven(approval="r1.reboot.0.11", by="bob", reason="at night", via="session", about="reboot")
WELL = (Probe("agent-login", True, "let in"), Probe("login-root", True, "let in"))
ANNOUNCED = RebootAnnounced(host=HOST, boot="b1", until=1_790_000_540.0, rules=(RULE,), journals=("j",))
RETURNED = RebootReturned(host=HOST, boot="b2", seconds=41.2, probes=WELL)
COMPARED = RebootCompared(host=HOST, held=(RULE,))
UNTIL_IT_ASKS = (
    QUEUED,
    RunStarted(worker="w", confinement="", scanner="built-in", probes=WELL, simulated=False),
    SEEN,
    ScanFinished(phase="opening", seconds=0.1),
    RunScoped(order=(RULE,), compliant=(), undecided=()),
    ItemStarted(rule=RULE, title="Empty passwords", category="I"),
    AttemptStarted(**OF_RULE, lessons=()),
    ActionApplying(**OF_RULE, journal="j"),
    ActionApplied(**OF_RULE, journal="j", diff="", changes=(), seconds=0.1),
    ItemPassed(rule=RULE, attempts=1),
    ASKED,
)
ENDED = RunFinished(passed=1, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
TO_THE_END = (YES, ANNOUNCED, RETURNED, HELD, ScanFinished(phase="closing", seconds=0.1), COMPARED, ENDED)
