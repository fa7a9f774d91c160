import pytest

from app.events.event_field_types import ParameterUsed
from app.events.kinds import RunFailed
from app.evidence.ckl import CKL_STATUS
from app.evidence.finding_text import describe_actions_taken, describe_outcome
from app.evidence.run_record import read_run_record
from app.evidence.verify import CKL_STATUS as CKL_OF_SCRIPT
from app.evidence.verify import STATUS as STATUS_OF_SCRIPT
from tests.evidence import waived
from tests.evidence.logs import chain, plain_case, queued

RULE, OTHER = "V-257985", "V-258106"


def by_rule(case):
    return {one.rule.id: one for one in case.judged}


def test_each_attempt_keeps_its_events_and_how_it_ended(case):
    one = by_rule(case)[RULE]
    first, second = one.tried
    assert (first.attempt.number, second.attempt.number) == (1, 2)
    assert first.last < second.first
    assert first.attempt.failed.cause == "alarm"
    assert first.attempt.rolled_back.differences == ()
    assert first.lesson.rule == RULE
    assert second.attempt.clear
    assert second.attempt.failed is None
    assert (one.opening.word, one.closing.word) == ("fail", "pass")


def test_outcomes_in_words(case):
    rules = by_rule(case)
    assert describe_outcome(case, rules[RULE]) == "passed at attempt 2"
    assert describe_outcome(case, rules[OTHER]).startswith("escalated: ")
    assert describe_outcome(case, rules["V-258229"]).startswith("deferred: cannot be undone")
    assert describe_outcome(case, rules["V-257820"]) == "not part of the run"
    held = plain_case({RULE: "pass", OTHER: "unknown"}, {RULE: "pass", OTHER: "unknown"})
    assert describe_outcome(held, by_rule(held)[RULE]) == "passed before the run; nothing was done"
    assert describe_outcome(held, by_rule(held)[OTHER]) == "not attempted: the scanner said unknown"


def test_what_was_done_is_told_attempt_by_attempt(case):
    said = describe_actions_taken(case, by_rule(case)[RULE]).splitlines()
    assert said[1].startswith("Attempt 1: changed /etc/ssh/sshd_config; alarm: ")
    assert said[1].endswith("rolled back, and the rollback verified.")
    assert said[2] == "Attempt 2: changed /etc/mission/backup.conf, /etc/ssh/sshd_config; kept."
    assert "nothing was changed" not in describe_actions_taken(case, by_rule(case)[RULE])


def test_people_seats_and_time(case):
    assert [deed.what for deed in case.people] == ["asked for the run in mode auto"]
    assert [seat.role for seat in case.seats] == ["architect", "auditor", "sentry", "worker"]
    assert case.scanned["opening"] < case.scanned["closing"]
    assert 0 < case.queued_at < case.state.started_at
    assert case.simulated == "the engines and the host, by a tree of real files"


def test_papers_stand_in_the_order_that_was_asked():
    case = plain_case({OTHER: "fail", RULE: "fail"}, {OTHER: "fail", RULE: "fail"})
    assert [one.rule.id for one in case.requested_rules] == [OTHER, RULE]


FIRST = "V-257984"
EXPECTED = {
    "pass": "not_a_finding",
    "fail": "open",
    "notapplicable": "not_applicable",
    "unknown": "not_reviewed",
    "error": "not_reviewed",
}


@pytest.mark.parametrize(("word", "expected"), EXPECTED.items())
def test_the_last_word_decides(word, expected):
    case = plain_case({FIRST: "fail"}, {FIRST: word})
    assert [one.status for one in case.requested_rules] == [expected]


def test_without_a_closing_scan_nothing_is_reviewed_however_it_opened():
    case = plain_case({FIRST: "pass"}, None)
    assert {one.status for one in case.judged} == {"not_reviewed"}


def test_a_run_that_failed_before_it_began_has_every_rule_unreviewed():
    case = read_run_record(chain([queued([FIRST]), RunFailed(reason="no route to host")]))
    assert {one.status for one in case.judged} == {"not_reviewed"}


def test_a_waiver_counts_where_the_rule_was_asked_for_and_does_not_hold():
    given = [waived.waiver(id=rule, rule=rule) for rule in (waived.RULE, waived.OTHER, "V-257983")]
    log = waived.waived_log(*given, closing={waived.RULE: "fail", waived.OTHER: "pass"})
    assert [one.rule.id for one in read_run_record(log).judged if one.waiver] == [waived.RULE]


def test_what_was_not_asked_for_is_not_reviewed():
    case = plain_case({FIRST: "fail"}, {FIRST: "pass"})
    others = {one.status for one in case.judged if one.rule.id != FIRST}
    assert others == {"not_reviewed"}
    assert len(case.judged) == 30


def test_the_script_in_the_pack_reads_words_as_we_do():
    """It stands alone on purpose, so it has tables of its own."""
    for word, expected in EXPECTED.items():
        assert STATUS_OF_SCRIPT.get(word, "not_reviewed") == expected
    for ours, shown in CKL_STATUS.items():
        assert CKL_OF_SCRIPT.get(ours, "Not_Reviewed") == shown


def test_a_rule_has_the_values_of_the_site_that_it_uses_and_no_others():
    value = ParameterUsed(name="minlen", value="16", sha256="f" * 64, rules=(RULE,), where="every host")
    rules = by_rule(plain_case({RULE: "fail", OTHER: "fail"}, None, begun={"parameters": (value,)}))
    assert (rules[RULE].used, rules[OTHER].used) == ((value,), ())
