from app.events.kinds import ActionApplied, ActionApplying, AttemptStarted, ForceAsked, ItemPassed, ItemStarted
from app.events.words import Behind
from app.evidence.account import done, found, outcome
from tests.evidence.logs import plain_case

RULE = "V-257984"
LATE = Behind(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")


def passed(*behind):
    made = ActionApplied(rule=RULE, attempt=1, journal="j", diff="", changes=(), seconds=0)
    between = [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(rule=RULE, attempt=1, lessons=()),
        ActionApplying(rule=RULE, attempt=1, journal="j"),
        made,
        ForceAsked(rule=RULE, attempt=1, asked=("sysctl",), behind=behind),
        ItemPassed(rule=RULE, attempts=1),
    ]
    case = plain_case({RULE: "fail"}, {RULE: "pass"}, between)
    return case, case.asked[0]


def test_what_is_set_and_not_in_force_is_said_where_the_pass_is():
    case, one = passed(LATE)
    assert "Set, not in force: kernel.x is 0, 1 wanted: a reboot" in found(case, one)
    assert outcome(case, one) == "passed at attempt 1; set, not in force: kernel.x is 0, 1 wanted: a reboot"
    assert "set, not in force" in done(case, one)


def test_what_is_in_force_needs_no_word():
    case, one = passed()
    assert "in force" not in found(case, one) + outcome(case, one)
