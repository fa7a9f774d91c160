"""What waits for a person: why, how risky, in which order, and how it can be answered."""

from dataclasses import replace
from datetime import UTC, datetime

from app.events.approval_policy import ChangeRisk, PeopleNeeded
from app.events.kinds import ActionsAllowed, ApprovalGiven, RolloutPaused, RunPaused
from app.events.record import GENESIS, build_recorded_event
from app.loop.state import fold_events
from app.people.rights import Person
from app.runs.open_decisions import InboxSources, LeftFinding, explain_denial, list_decisions
from app.skills.stig.pack import STIG
from app.store.models import RunRow
from app.store.rollouts import RolloutRow
from app.store.waivers import WaiverRow
from tests.runs.test_approval_answer import OF_RULE, PLANNED, PROPOSED, QUEUED, RULE, TWO, UNTIL_IT_WAITS, asks

NOW = 1_000_000.0
HOUR, DAY = 3600.0, 24 * 3600.0
NONE = InboxSources(NOW)
LEFT = LeftFinding("escalated", "web1", "stig", "V-1", "r1", NOW - HOUR, "no attempt passed", "Ciphers", "I")
ADA = Person("ada", "operator", "token")


def asking(*events, at=NOW - 60):
    lines, last = [], GENESIS
    for seq, event in enumerate((QUEUED, *UNTIL_IT_WAITS, PLANNED, PROPOSED, *events), 1):
        lines.append(build_recorded_event("r1", seq, at, event, last))
        last = lines[-1].hash
    return fold_events(lines)


def ran(run, host, state, **more):
    words = {"mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": "", "queued_at": NOW - 9}
    return RunRow(id=run, host=host, state=state, **(words | more))


def paused_rollout(reason="1 host is harmed: web3"):
    return RolloutRow(
        id="o1", words="web*", hosts=9, state="paused", reason=reason, mode="auto", skill="stig", simulated=True,
        note="", by="ada", asked_at=NOW - DAY,
    )  # fmt: skip


def waiver(days, **more):
    until = datetime.fromtimestamp(NOW + days * DAY, UTC).date().isoformat()
    words = {"scope_kind": "all", "scope_name": "", "owner": "Ops lead", "reason": "why", "ticket": "", "by": "ada"}
    return WaiverRow(**({"id": "w1", "rule": "V-1", "until": until, "made_at": NOW - 90 * DAY} | words | more))


def test_nothing_waits_where_nothing_happened():
    assert list_decisions(NONE) == []


def test_a_change_waits_with_its_diff_what_it_breaks_and_three_answers():
    state = asking(ActionsAllowed(**OF_RULE), asks())
    (one,) = list_decisions(replace(NONE, asking=[(state, STIG.rules[RULE])]))
    assert (one.kind, one.host, one.rule, one.run) == ("approval", "fixture", RULE, "r1")
    assert one.why == f"Run r1 waits for your approval of {RULE}."
    assert one.diff == PROPOSED.diff
    assert one.breaks == STIG.rules[RULE].breaks != ""
    assert [(answer.verb, answer.reason) for answer in one.answers] == [
        ("approve", "optional"), ("refuse", "required"), ("edit", "optional"),
    ]  # fmt: skip
    assert one.since == NOW - 60


def test_an_approval_that_has_expired_waits_no_more_though_the_log_does_not_say_so_yet():
    state = asking(ActionsAllowed(**OF_RULE), asks(expires=NOW))
    assert list_decisions(replace(NONE, asking=[(state, None)])) == []


def test_of_two_people_the_first_cannot_answer_twice_and_the_demo_cannot_approve():
    yes = ApprovalGiven(approval="r1.V-258227.1.6", by="ada", reason="read it", via="token", given=1, of=2)
    state = asking(ActionsAllowed(**OF_RULE, needs=TWO), asks(), yes)
    (one,) = list_decisions(replace(NONE, asking=[(state, None)]))
    assert one.why.endswith("ada approved it; a second person must approve it, too.")
    assert one.risk == "high"
    assert one.answers[0].reason == "required"
    assert "said yes already" in explain_denial(one, "approve", ADA)
    assert explain_denial(one, "refuse", ADA) == ""
    assert explain_denial(one, "approve", replace(ADA, name="bob")) == ""
    assert "sign in" in explain_denial(one, "approve", replace(ADA, name="bob", via="demo"))
    assert "operator" in explain_denial(one, "refuse", replace(ADA, right="viewer"))
    assert "operator" in explain_denial(one, "refuse", None)


def test_the_findings_of_a_host_are_one_decision_without_those_in_work_and_those_with_a_waiver():
    others = [replace(LEFT, rule=f"V-{number}", category="III", at=NOW - number) for number in (2, 3, 4)]
    (one,) = list_decisions(replace(NONE, findings=[*others, LEFT]))
    assert one.why == "web1: 4 findings escalated, because no attempt passed. Decide what to do."
    assert (one.risk, one.since, one.run) == ("high", NOW - HOUR, "r1")
    assert [finding.rule for finding in one.findings] == ["V-1", "V-2", "V-3", "V-4"]
    fewer = replace(NONE, findings=[*others, LEFT], in_work={"web1": frozenset({"V-2"})}, waivers=[waiver(30)])
    (one,) = list_decisions(fewer)
    assert [finding.rule for finding in one.findings] == ["V-3", "V-4"]
    assert one.risk == "low"
    elsewhere = replace(fewer, waivers=[waiver(30, scope_kind="group", scope_name="db")], groups={"db": ["db1"]})
    (one,) = list_decisions(elsewhere)
    assert len(one.findings) == 3


def test_escalated_and_deferred_findings_and_other_hosts_stand_apart():
    found = [LEFT, replace(LEFT, outcome="deferred", rule="V-2"), replace(LEFT, host="web2")]
    assert {one.id for one in list_decisions(replace(NONE, findings=found))} == {
        "escalated:web1:stig", "deferred:web1:stig", "escalated:web2:stig",
    }  # fmt: skip


def test_a_waiver_waits_from_two_weeks_before_its_end():
    assert list_decisions(replace(NONE, waivers=[waiver(16)])) == []
    (one,) = list_decisions(replace(NONE, waivers=[waiver(10)]))
    assert (one.kind, one.risk, [answer.verb for answer in one.answers]) == ("waiver", "low", ["end"])
    (over,) = list_decisions(replace(NONE, waivers=[waiver(-2)]))
    assert (over.risk, over.answers) == ("medium", ())
    assert "is open again" in over.why


def test_a_rollout_that_its_rule_paused_is_worse_than_one_that_a_person_paused():
    row = paused_rollout()
    paused = {
        by: {"o1": build_recorded_event("o1", 3, NOW - HOUR, RolloutPaused(by=by), GENESIS)} for by in ("rule", "ada")
    }
    (one,) = list_decisions(replace(NONE, rollouts=[row], paused_rollouts=paused["rule"]))
    assert (one.why, one.since, one.risk) == ("Rollout o1 is paused: 1 host is harmed: web3", NOW - HOUR, "high")
    (one,) = list_decisions(replace(NONE, rollouts=[row], paused_rollouts=paused["ada"]))
    assert one.risk == "medium"
    row.state = "running"
    assert list_decisions(replace(NONE, rollouts=[row])) == []


def test_a_run_that_a_person_paused_waits_and_one_that_its_rollout_paused_does_not():
    run = ran("r7", "web1", "paused")
    by_ada = {"r7": build_recorded_event("r7", 3, NOW - 5, RunPaused(by="ada"), GENESIS)}
    (one,) = list_decisions(replace(NONE, paused=[run], paused_runs=by_ada))
    assert one.why == "Run r7 on web1 is paused by ada: it goes on when you resume it."
    by_rollout = {"r7": build_recorded_event("r7", 3, NOW - 5, RunPaused(by="rollout o1"), GENESIS)}
    held = replace(NONE, paused=[run], paused_runs=by_rollout, rollouts=[paused_rollout()])
    assert [one.kind for one in list_decisions(held)] == ["rollout"]


def test_a_host_whose_run_failed_waits_until_another_run_works_on_it():
    failed = replace(NONE, failed=[ran("r1", "web1", "failed", reason="no route to it", ended_at=NOW - 7)])
    (one,) = list_decisions(failed)
    assert (one.title, one.since) == ("The last run on web1 failed", NOW - 7)
    assert one.why == "web1: the last run failed: no route to it", "which says nothing of the host of now"
    assert list_decisions(replace(failed, in_work={"web1": frozenset()})) == []


def test_what_expires_soon_comes_first_then_the_day_then_the_rest_each_by_risk_and_age():
    soon = asking(ActionsAllowed(**OF_RULE), asks(expires=NOW + 60))
    risk = ChangeRisk(category="II", breaks=(), cuts_the_line=True, irreversible=False, replayed=False)
    line = PeopleNeeded(people=1, why="mode review", by="", risk=risk)
    later = asking(ActionsAllowed(**OF_RULE, needs=line), asks(expires=NOW + DAY), at=NOW - 30)
    found = [LEFT, replace(LEFT, host="old", at=NOW - 3 * DAY), replace(LEFT, host="low", category="III")]
    told = list_decisions(
        replace(NONE, asking=[(later, None), (soon, STIG.rules[RULE])], findings=found, waivers=[waiver(3, rule="V-9")])
    )
    assert [(one.get_group(NOW), one.host, one.risk) for one in told] == [
        ("Expire within the hour", "fixture", "medium"),
        ("Today", "web1", "high"),
        ("Today", "fixture", "high"),
        ("Today", "low", "low"),
        ("Older", "old", "high"),
        ("Older", "", "low"),
    ]


def test_the_version_changes_with_what_a_person_is_shown():
    (one,) = list_decisions(replace(NONE, findings=[LEFT]))
    assert one.version == list_decisions(replace(NONE, findings=[LEFT]))[0].version
    assert one.version != list_decisions(replace(NONE, findings=[replace(LEFT, reason="other")]))[0].version
