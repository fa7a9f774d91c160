import pytest

from app.events.kinds import (
    ApprovalEdited,
    ApprovalGiven,
    ApprovalRefused,
    RunPaused,
    RunResumed,
    RunStopRequested,
    ScanStarted,
)
from app.evidence.people_actions_in_run import find_operator_action
from tests.evidence.logs import chain, queued

OF = {"approval": "0a1b2c3d.V-257985.2.40", "by": "ada"}
CHANGE = "the change to V-257985 of attempt 2"


@pytest.mark.parametrize(
    ("event", "what", "why"),
    [
        (queued(["V-1"], note="why not"), "asked for the run in mode auto", "why not"),
        (queued(["V-1"], consent="I accept it"), "asked for the run in mode auto, and said “I accept it”", ""),
        (ApprovalGiven(**OF, reason="fine"), f"approved {CHANGE}", "fine"),
        (ApprovalRefused(**OF, reason="no"), f"refused {CHANGE}", "no"),
        (ApprovalGiven(approval="0a1b.reboot.0.9", by="ada", reason="now"), "approved the reboot", "now"),
        (ApprovalEdited(**OF, reason="", actions=()), f"edited {CHANGE}", ""),
        (RunPaused(by="ada"), "paused the run", ""),
        (RunResumed(by="ada"), "let the run go on", ""),
        (RunStopRequested(by="ada", reason="enough"), "stopped the run", "enough"),
    ],
)  # fmt: skip
def test_what_a_person_did(event, what, why):
    (recorded,) = chain([event])
    done = find_operator_action(recorded)
    assert (done.who, done.what, done.why) == ("ada", what, why)


@pytest.mark.parametrize("event", [ScanStarted(phase="opening", rules=1), RunResumed(by="worker 1", after_crash=True)])
def test_what_nobody_did(event):
    (recorded,) = chain([event])
    assert find_operator_action(recorded) is None
