import pytest

from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionProposed,
    AttemptStarted,
    InForceChecked,
    ItemPassed,
    ItemStarted,
)
from app.events.vocabulary import PendingSetting
from app.evidence.finding_text import describe_actions_taken, describe_finding, describe_outcome
from tests.evidence.logs import plain_case
from tests.loop.playing import FIX

RULE = "V-257984"
LATE = PendingSetting(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")


def passed(*behind):
    made = ActionApplied(rule=RULE, attempt=1, journal="j", diff="", changes=(), seconds=0)
    between = [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(rule=RULE, attempt=1, lessons=()),
        ActionApplying(rule=RULE, attempt=1, journal="j"),
        made,
        InForceChecked(rule=RULE, attempt=1, asked=("sysctl",), behind=behind),
        ItemPassed(rule=RULE, attempts=1),
    ]
    case = plain_case({RULE: "fail"}, {RULE: "pass"}, between)
    return case, case.requested_rules[0]


def test_what_is_set_and_not_in_force_is_said_where_the_pass_is():
    case, one = passed(LATE)
    assert "Set, not in force: kernel.x is 0, 1 wanted: a reboot" in describe_finding(case, one)
    assert describe_outcome(case, one) == "passed at attempt 1; set, not in force: kernel.x is 0, 1 wanted: a reboot"
    assert "set, not in force" in describe_actions_taken(case, one)


def test_what_is_in_force_needs_no_word():
    case, one = passed()
    assert "in force" not in describe_finding(case, one) + describe_outcome(case, one)


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
