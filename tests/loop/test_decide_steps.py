"""One step at a time: given how far a run, an item or an attempt has come, what is done next."""

from dataclasses import replace as vary

import pytest
from msgspec.structs import replace

from app.events.approval_policy import ApprovalPolicy, PeopleNeeded
from app.events.event_field_types import SCRIPT_TRIAL, Budget, Candidate, fingerprint_actions
from app.events.kinds import (
    ActionApplied,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    FactsGathered,
    PlanMade,
    Rehearsed,
    RunFinished,
    RunScoped,
    RunStopRequested,
    RunWaiting,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    TurnStarted,
    VerdictExplained,
    VerdictGiven,
)
from app.loop import effects
from app.loop.attempt_state import Attempt
from app.loop.decide import MOST_FRUITLESS_TURNS, decide_next_effect
from app.loop.state import Item, RunState
from tests.evidence.logs import started
from tests.loop.playing import FIX, PROPOSED, SHUT_OUT, SOUND, pack, request, rule

NOW = 5000.0
BUDGET = Budget(run_seconds=3000, item_seconds=800, turn_seconds=300, attempts=3)
AT = {"rule": "A", "attempt": 1}
PLAN = PlanMade(**AT, approach="", paths=("/etc/x",), steps=(), risk="", rollback="", validation="")
CHANGE = ActionProposed(**AT, actions=PROPOSED[0].actions, note="", fingerprint="f", diff="")
REPEATED = replace(CHANGE, replayed=FIX.id)
APPLIED = ActionApplied(**AT, journal="j", diff="", changes=(), seconds=0.0)
NOTHING_CHANGED = ActionFailedToApply(**AT, journal="j", reason="no such line")
EXPLAINED = VerdictExplained(**AT, explanation="", veto=False, reason="")
PROBED = SentryProbed(**AT, probes=SOUND, drift=(), log=())
ASKED = ApprovalRequested(**AT, approval="a", binds="", expires=NOW + 60)
EDIT = ApprovalEdited(approval="a", by="ada", reason="", actions=())
YES = ApprovalGiven(approval="a", by="ada", reason="")
NO = ApprovalRefused(approval="a", by="ada", reason="not today")
UNDONE = ActionRolledBack(**AT, journal="j", paths=(), differences=(), probes=SOUND, seconds=0.0)
FACTS = FactsGathered(**AT, facts=())
POLICY = ApprovalPolicy(file="f", sha256="0" * 64, rules=(), otherwise=1, line=1)
ONE_PERSON, NOBODY = (PeopleNeeded(people=count, why="", by="") for count in (1, 0))


def verdict(word, phase="attempt"):
    return VerdictGiven(rule="A", phase=phase, word=word, evidence="line 3", scanner="s")


def rehearsed(word):
    return Rehearsed(**AT, word=word, evidence="line 3")


def failed(cause, reason="why"):
    return AttemptFailed(**AT, cause=cause, reason=reason)


def reflected(decision="CONTINUE"):
    return AttemptReflected(**AT, decision=decision, reason="no use", banned=())


def stand(attempt=None, *, item=None, mode="auto", engine="lineup", policy=None, skill=None, **more):
    """A run at work on rule A, a hundred seconds after the item began and two hundred after the run did."""
    skill = skill or pack([rule("A")])
    asked = replace(request(skill, mode=mode, budget=BUDGET), engine=engine)
    one = Item("A", "working", started=NOW - 100, attempt=attempt, **(item or {}))
    begun = {"started": started(probes=SOUND, approvals=policy), "started_at": NOW - 200, "status": "running"}
    scope = RunScoped(order=("A",), compliant=(), undecided=())
    at_work = {"scanned": frozenset({"opening"}), "scope": scope, "items": {"A": one}, "working": "A"}
    return RunState(**{"run": "r", "seq": 9, "at": NOW, "request": asked, **begun, **at_work, **more})


def decide(state, *rules):
    return decide_next_effect(state, pack(rules or [rule("A")]), NOW)


def trying(**fields):
    return Attempt(1, NOW - 50, **fields)


def ask(role, purpose):
    return effects.Ask(role, purpose, BUDGET.turn_seconds)


MADE = {"plan": PLAN, "proposed": CHANGE}
ALLOWED = {**MADE, "allowed": True}
DONE = {**ALLOWED, "applied": APPLIED, "journal": "j"}
PASSED = {**DONE, "verdict": verdict("pass"), "explained": EXPLAINED}
FAILED_SCAN = effects.FailAttempt("scanner", "the scanner says fail: line 3")
GAMED = VerdictExplained(**AT, explanation="", veto=True, reason="a comment")
STEPS = {
    "nothing is known": ({}, ask("architect", "plan")),
    "another host's fix is offered": ({"offered": FIX}, effects.Repeat()),
    "the offered fix was repeated": ({"offered": FIX, "plan": PLAN, "proposed": REPEATED}, effects.Judge()),
    "an offered fix was left for a plan": ({"offered": FIX, "plan": PLAN}, ask("worker", "act")),
    "the last resort begins": ({"vendor": True}, effects.TakeVendors()),
    "the vendor's script is proposed": ({"vendor": True, **MADE}, effects.Judge()),
    "a person edited the script": ({"vendor": True, "plan": PLAN, "edited": EDIT}, effects.Propose()),
    "a plan is made": ({"plan": PLAN}, ask("worker", "act")),
    "a plan takes a proposal": ({"plan": replace(PLAN, candidate=2)}, effects.TakeCandidate(2)),
    "a person edited it": ({"plan": replace(PLAN, candidate=2), "edited": EDIT}, effects.Propose()),
    "the policy refuses": (
        {**MADE, "refused": ActionRefused(**AT, action=None, clause="c", reason="r")},
        effects.FailAttempt("refused", "c: r"),
    ),
    "a change is proposed": (MADE, effects.Judge()),
    "it is allowed": (ALLOWED, effects.Apply()),
    "a repeated fix is allowed": ({**ALLOWED, "proposed": REPEATED}, effects.Rehearse()),
    "it fails on a copy": (
        {**ALLOWED, "proposed": REPEATED, "rehearsed": rehearsed("fail")},
        effects.FailAttempt("scanner", "on a copy: line 3"),
    ),
    "it cannot be judged on a copy": (
        {**ALLOWED, "proposed": REPEATED, "rehearsed": rehearsed("error")},
        effects.FailAttempt("scanner", "on a copy: line 3"),
    ),
    "it passes on a copy": ({**ALLOWED, "proposed": REPEATED, "rehearsed": rehearsed("pass")}, effects.Apply()),
    "a copy decides only what is repeated": ({**ALLOWED, "rehearsed": rehearsed("fail")}, effects.Apply()),
    "nothing could be changed": (
        {**ALLOWED, "change_failed": NOTHING_CHANGED, "journal": "j"},
        effects.FailAttempt("change failed", "no such line"),
    ),
    "it is on the host": (DONE, effects.Verify()),
    "the scanner passes it": ({**DONE, "verdict": verdict("pass")}, ask("auditor", "review")),
    "the scanner fails it": ({**DONE, "verdict": verdict("fail")}, ask("auditor", "review")),
    "a fail is explained": ({**PASSED, "verdict": verdict("fail")}, FAILED_SCAN),
    "a pass is explained": (PASSED, effects.Watch()),
    "a pass is vetoed": ({**PASSED, "explained": GAMED}, effects.FailAttempt("vetoed", "gamed, not fixed: a comment")),
    "the host was probed": ({**PASSED, "probed": PROBED}, ask("sentry", "triage")),
    "the alarm is raised": (
        {**PASSED, "probed": PROBED, "alarm": SentryAlarm(**AT, reason="locked out", by="probe")},
        effects.FailAttempt("alarm", "locked out"),
    ),
    "the Sentry clears it": (
        {**PASSED, "probed": PROBED, "clear": SentryClear(**AT, assessment="")},
        effects.CloseItem("A", "passed"),
    ),
    "nobody answered in time": (
        {**ALLOWED, "approval": ASKED, "expired": ApprovalExpired(approval="a", reason="late")},
        effects.CloseItem("A", "deferred", "late"),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_how_far_an_attempt_has_come_decides_its_next_step(name):
    fields, step = STEPS[name]
    assert decide(stand(trying(**fields))) == step


FRUITLESS = {"fruitless": MOST_FRUITLESS_TURNS}
UNUSABLE = f"gave no usable answer in {MOST_FRUITLESS_TURNS} turns"


@pytest.mark.parametrize(
    ("fields", "step", "without"),
    [
        ({}, ask("architect", "plan"), effects.FailAttempt("engine", f"the architect {UNUSABLE}")),
        ({"plan": PLAN}, ask("worker", "act"), effects.FailAttempt("engine", f"the worker {UNUSABLE}")),
        ({**DONE, "verdict": verdict("fail")}, ask("auditor", "review"), effects.UseSafeDefault("review")),
        ({**PASSED, "probed": PROBED}, ask("sentry", "triage"), effects.UseSafeDefault("triage")),
        ({"failed": failed("refused")}, ask("architect", "reflect"), effects.UseSafeDefault("reflect")),
    ],
)
def test_a_role_is_asked_three_times_and_then_done_without(fields, step, without):
    assert decide(stand(trying(**fields, fruitless=MOST_FRUITLESS_TURNS - 1))) == step
    assert decide(stand(trying(**fields, **FRUITLESS))) == without
    modelless = decide(stand(trying(**fields), engine="none"))
    assert modelless == without or modelless.cause == "refused", "without a model nobody is asked"


def test_without_a_model_proposals_are_taken_in_order_and_edits_of_a_person_stand():
    offered = {"candidates": PROPOSED}
    assert decide(stand(trying(), item=offered, engine="none")) == effects.TakeCandidate(1)
    tried = {**offered, "tried": (fingerprint_actions(PROPOSED[0].actions),)}
    assert decide(stand(trying(), item=tried, engine="none")) == effects.TakeCandidate(3)
    assert decide(stand(trying(**MADE), item=offered, engine="none")) == effects.Judge()
    rewritten = decide(stand(trying(plan=PLAN), item=offered, engine="none"))
    assert rewritten == effects.FailAttempt("refused", "no model is asked, so no worker writes another change")


ALL_TRIED = "no model is asked, and all that is proposed was tried"
UNDECIDED = Candidate(source="s", gap="which zone is trusted", question="which zone")
GAP, REFUSED = Candidate(source="s", gap="no command"), PROPOSED[1]


@pytest.mark.parametrize(
    ("candidates", "failures", "told"),
    [
        ((), (), "no model is asked, and nothing is proposed that can be done here."),
        ((GAP,), (), "no model is asked, and nothing is proposed that can be done here. s: no command"),
        ((GAP, REFUSED), (), "no model is asked, and nothing is proposed that can be done here. s: no command b: no"),
        ((GAP, UNDECIDED), (), "a person decides: which zone is trusted"),
        ((UNDECIDED, PROPOSED[0]), (), ALL_TRIED),
        (PROPOSED[:1], ("shut out",), f"{ALL_TRIED}; the last: shut out"),
        (PROPOSED[:1], ("first", "second"), f"{ALL_TRIED}; the last: second"),
        (PROPOSED[:1], ("shut out", f"{ALL_TRIED}; the last: shut out"), f"{ALL_TRIED}; the last: shut out"),
    ],
)
def test_a_run_without_a_model_says_why_it_has_nothing_left_to_try(candidates, failures, told):
    tried = tuple(fingerprint_actions(one.actions) for one in candidates)
    item = {"candidates": candidates, "tried": tried, "failures": tuple(failed("alarm", one) for one in failures)}
    assert decide(stand(trying(), item=item, engine="none")) == effects.FailAttempt("refused", told)


FINAL = rule("A", irreversible=True)
CANNOT_BE_UNDONE = "cannot be undone, so a person decides: run it in review mode"
PEOPLE = [
    ("auto", None, None, rule("A"), effects.Apply()),
    ("review", None, None, rule("A"), effects.Rehearse()),
    ("review", NOBODY, POLICY, rule("A"), effects.Apply()),
    ("review", NOBODY, POLICY, FINAL, effects.Apply()),
    ("auto", ONE_PERSON, POLICY, rule("A"), effects.Rehearse()),
    ("auto", ONE_PERSON, None, rule("A"), effects.CloseItem("A", "deferred", CANNOT_BE_UNDONE)),
    ("auto", None, None, FINAL, effects.CloseItem("A", "deferred", CANNOT_BE_UNDONE)),
    ("auto", None, POLICY, FINAL, effects.Rehearse()),
    ("review", ONE_PERSON, None, rule("A"), effects.Rehearse()),
]


@pytest.mark.parametrize(("mode", "needs", "policy", "of", "step"), PEOPLE)
def test_mode_policy_and_rule_decide_whether_people_are_asked_before_a_change(mode, needs, policy, of, step):
    attempt = trying(**ALLOWED, needs=needs)
    assert decide(stand(attempt, mode=mode, policy=policy), of) == step
    asks = step == effects.Rehearse()
    seen = replace(attempt, rehearsed=rehearsed("fail"))
    assert decide(stand(seen, mode=mode, policy=policy), of) == (effects.RequestApproval() if asks else step)
    if asks:
        agreed = replace(seen, approval=ASKED, given=(YES,))
        assert decide(stand(agreed, mode=mode, policy=policy), of) == effects.Apply()


@pytest.mark.parametrize(
    ("until", "fields", "step"),
    [
        (NOW + 1, {}, effects.Wait(NOW + 1)),
        (NOW, {}, effects.ExpireApproval()),
        (NOW - 1, {}, effects.ExpireApproval()),
        (NOW + 1, {"disapproved": NO}, effects.FailAttempt("disapproved", "ada refused: not today")),
    ],
)
def test_an_approval_is_waited_for_until_it_expires(until, fields, step):
    asked = trying(**ALLOWED, rehearsed=rehearsed("pass"), approval=replace(ASKED, expires=until), **fields)
    assert decide(stand(asked, mode="review")) == step


def test_waiting_for_a_person_uses_no_budget_and_thinking_does():
    late = {"items": {"A": Item("A", "working", started=NOW - 801, attempt=trying(**MADE))}}
    assert decide(stand(**late)) == effects.FailAttempt("over budget", "the item's 800 s are spent")
    asked = trying(**ALLOWED, rehearsed=rehearsed("pass"), approval=ASKED)
    waits = {"items": {"A": Item("A", "working", started=NOW - 801, attempt=asked)}}
    assert decide(stand(**waits, mode="review")) == effects.Wait(ASKED.expires)


def test_a_turn_gets_no_more_time_than_its_item_or_its_run_has_left():
    for item_began, run_began, left in ((NOW - 700, NOW - 700, 100), (NOW - 10, NOW - 2950, 50), (NOW, NOW, 300)):
        items = {"A": Item("A", "working", started=item_began, attempt=trying())}
        assert decide(stand(items=items, started_at=run_began)).seconds == left


def test_a_dry_run_ends_with_what_the_scanner_says_of_the_copy():
    assert decide(stand(trying(**ALLOWED), mode="dry-run")) == effects.Rehearse()
    seen = trying(**ALLOWED, rehearsed=rehearsed("fail"))
    told = effects.CloseItem("A", "skipped", "dry run: the scanner would say fail")
    assert decide(stand(seen, mode="dry-run")) == told
    assert decide(stand(seen)) == effects.Apply()


ON_HOST = {**DONE, "failed": failed("scanner", "it still fails")}
OFF_HOST = {**MADE, "failed": failed("scanner", "it still fails")}
FAILURES = {
    "the host still has it": (ON_HOST, effects.GatherFacts()),
    "facts are gathered": ({**ON_HOST, "facts": FACTS}, effects.RollBack("j", "scanner")),
    "half of it failed": (
        {
            **ALLOWED,
            "journal": "j",
            "change_failed": NOTHING_CHANGED,
            "failed": failed("change failed"),
            "facts": FACTS,
        },
        effects.RollBack("j", "change failed"),
    ),
    "the budget is spent": (
        {**OFF_HOST, "failed": failed("over budget", "spent")},
        effects.CloseItem("A", "escalated", "spent"),
    ),
    "it was never on the host": (OFF_HOST, ask("architect", "reflect")),
    "it is undone": ({**ON_HOST, "journal": None, "facts": FACTS, "rolled_back": UNDONE}, ask("architect", "reflect")),
    "an engine failed it": ({**OFF_HOST, "failed": failed("engine")}, effects.UseSafeDefault("reflect")),
    "the script failed": ({**OFF_HOST, "vendor": True}, effects.UseSafeDefault("reflect")),
    "a repeated fix never ran": ({**OFF_HOST, "proposed": REPEATED}, effects.UseSafeDefault("reflect")),
    "a repeated fix ran": (
        {**ON_HOST, "journal": None, "proposed": REPEATED, "rolled_back": UNDONE},
        ask("architect", "reflect"),
    ),
    "it is thought over": ({**OFF_HOST, "reflected": reflected()}, effects.StartAttempt("A", 2)),
    "the script is thought over": (
        {**OFF_HOST, "vendor": True, "reflected": reflected()},
        effects.CloseItem(
            "A", "escalated", "the vendor's script, the last resort, did not pass either: it still fails"
        ),
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_attempt_is_undone_then_thought_over_then_followed_by_another(name):
    fields, step = FAILURES[name]
    assert decide(stand(trying(**fields), item={"failures": (fields["failed"],)})) == step


def test_without_a_model_a_change_is_undone_at_once_and_no_facts_are_gathered():
    assert decide(stand(trying(**ON_HOST), engine="none")) == effects.RollBack("j", "scanner")


def test_an_item_without_time_left_is_not_thought_over_and_not_tried_again():
    late = {"status": "working", "started": NOW - 801, "failures": (failed("scanner"),)}
    unthought = Item("A", **late, attempt=trying(**OFF_HOST))
    assert decide(stand(items={"A": unthought})) == effects.UseSafeDefault("reflect")
    thought = Item("A", **late, attempt=trying(**OFF_HOST, reflected=reflected()))
    assert decide(stand(items={"A": thought})) == effects.CloseItem("A", "escalated", "the item's 800 s are spent")


@pytest.mark.parametrize(
    ("mode", "policy", "remedy", "step"),
    [
        ("auto", None, False, effects.CloseItem("A", "escalated", "3 attempts did not pass; the last: why")),
        ("review", None, False, effects.CloseItem("A", "escalated", "3 attempts did not pass; the last: why")),
        ("review", None, True, effects.StartAttempt("A", 4, vendor=True)),
        ("auto", POLICY, True, effects.StartAttempt("A", 4, vendor=True)),
    ],
)
def test_after_the_last_attempt_the_vendors_script_is_tried_if_people_can_be_asked(mode, policy, remedy, step):
    last = Attempt(3, NOW, failed=failed("scanner"), reflected=reflected())
    told = decide(stand(last, item={"failures": (last.failed,)}, mode=mode, policy=policy), rule("A", remedy=remedy))
    assert told == step


def test_a_run_without_a_model_ends_an_item_once_nothing_is_left_to_try():
    tried = {"candidates": PROPOSED, "tried": (fingerprint_actions(PROPOSED[0].actions),)}
    once = trying(**OFF_HOST, reflected=reflected())
    item = {**tried, "failures": (once.failed,)}
    assert decide(stand(once, item=item, engine="none")) == effects.StartAttempt("A", 2)
    item["tried"] += (fingerprint_actions(PROPOSED[2].actions),)
    over = decide(stand(once, item=item, engine="none"))
    assert over == effects.CloseItem("A", "escalated", f"{ALL_TRIED}; the last: it still fails")
    foreign = vary(rule("A"), foreign=True)
    scripted = decide(stand(once, item=item, engine="none"), foreign)
    assert scripted == effects.StartAttempt("A", 2), "a script of the content may be tried on a copy"
    unproposed = trying(plan=PLAN, failed=failed("refused"), reflected=reflected())
    assert isinstance(decide(stand(unproposed, item=item, engine="none"), foreign), effects.CloseItem)
    seen = {**item, "candidates": (*PROPOSED, Candidate(source=f"a script{SCRIPT_TRIAL}", gap="no"))}
    assert isinstance(decide(stand(once, item=seen, engine="none"), foreign), effects.CloseItem)


OTHERS = {"B": Item("B", "passed")}
FOREIGN = vary(rule("A"), foreign=True)


@pytest.mark.parametrize(
    ("of", "mode", "others", "looked", "step"),
    [
        (FOREIGN, "auto", OTHERS, None, effects.Recheck()),
        (FOREIGN, "review", OTHERS, None, effects.Recheck()),
        (FOREIGN, "dry-run", OTHERS, None, effects.StartAttempt("A", 1)),
        (FOREIGN, "auto", {"B": Item("B", "escalated")}, None, effects.StartAttempt("A", 1)),
        (rule("A"), "auto", OTHERS, None, effects.StartAttempt("A", 1)),
        (FOREIGN, "auto", OTHERS, "fail", effects.StartAttempt("A", 1)),
        (FOREIGN, "auto", OTHERS, "pass", effects.CloseItem("A", "passed")),
        (
            FOREIGN,
            "auto",
            OTHERS,
            "notapplicable",
            effects.CloseItem("A", "skipped", "a change for another rule made this one not applicable: line 3"),
        ),
    ],
)
def test_a_rule_of_foreign_content_is_looked_at_again_once_another_was_changed(of, mode, others, looked, step):
    mine = Item("A", "working", started=NOW, rechecked=looked and verdict(looked, "recheck"))
    assert decide(stand(items={"A": mine, **others}, mode=mode), of, rule("B")) == step


PAUSED = {"status": "paused"}
STOPPING = {"stopping": RunStopRequested(by="ada", reason="")}
ABSENT = RunWaiting(cause="engine", reason="", engine="e")
IDLE = {"working": None}
TURN = TurnStarted(
    **AT, turn="t", role="worker", purpose="act", engine="e", model="m", replica=0, max_tokens=1, prompt=("", "")
)
END = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
RUNS = {
    "it has ended": ({"ended": END}, effects.Done()),
    "it was never asked for": ({"request": None}, effects.Halt("the log does not begin with a queued run")),
    "a turn was cut off": ({"turn": TURN}, effects.CloseCrashedTurn("t")),
    "the disk is full": ({"waiting": replace(ABSENT, cause="storage"), "scanned": frozenset()}, effects.WaitOut()),
    "an engine is away": ({"waiting": ABSENT, **IDLE}, effects.WaitOut()),
    "it has not begun": ({"started": None, **IDLE, "scanned": frozenset(), "scope": None}, effects.Start()),
    "it is paused": ({**PAUSED, **IDLE}, effects.Wait(None)),
    "it is paused before its scan": ({**PAUSED, **IDLE, "scanned": frozenset()}, effects.Wait(None)),
    "it is to stop while an engine is away": ({"waiting": ABSENT, **STOPPING, **IDLE, "items": {}}, effects.Stop()),
    "nothing is scanned": ({**IDLE, "scanned": frozenset()}, effects.Scan("opening")),
    "nothing is sorted": ({**IDLE, "scope": None}, effects.Scope()),
    "an item waits": ({**IDLE, "items": {"A": Item("A")}}, effects.StartItem("A")),
    "no item waits": ({**IDLE, "items": {"A": Item("A", "passed")}}, effects.Scan("closing")),
    "all is scanned": ({**IDLE, "items": {}, "scanned": frozenset({"opening", "closing"})}, effects.Finish()),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_does_next_besides_its_items(name):
    fields, step = RUNS[name]
    assert decide(stand(**fields)) == step


def test_a_run_that_only_looks_needs_no_closing_scan():
    assert decide(stand(**IDLE, items={}, mode="scan")) == effects.Finish()
    told = effects.CloseItem("A", "skipped", "only looked at, as the run was asked to")
    assert decide(stand(**IDLE, items={"A": Item("A")}, mode="scan")) == told


STOPPED = "stopped by ada"


@pytest.mark.parametrize(
    ("items", "working", "step"),
    [
        ({"A": Item("A", "working", attempt=trying())}, "A", effects.CloseItem("A", "skipped", STOPPED)),
        ({"A": Item("A")}, None, effects.CloseItem("A", "skipped", STOPPED)),
        ({"A": Item("A", "passed")}, None, effects.Stop()),
        ({"A": Item("A", "working", attempt=trying(**DONE))}, "A", effects.FailAttempt("interrupted", STOPPED)),
        ({"A": Item("A", "working", attempt=trying(**ON_HOST))}, "A", effects.RollBack("j", STOPPED)),
    ],
)
def test_a_stop_undoes_what_is_on_the_host_and_closes_every_open_item(items, working, step):
    assert decide(stand(**STOPPING, items=items, working=working)) == step


WITH_JOURNAL = {**ALLOWED, "journal": "j"}
OPEN = {
    "a crash before it was applied": (WITH_JOURNAL, effects.RollBack("j", "interrupted")),
    "a rollback was cut": ({**ON_HOST, "rolling_back": True}, effects.RollBack("j", "scanner")),
    "it is applied": (DONE, effects.Verify()),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_change_that_a_crash_cut_is_rolled_back_before_anything_else(name):
    fields, step = OPEN[name]
    assert decide(stand(trying(**fields))) == step


@pytest.mark.parametrize(
    ("probed", "step"),
    [
        (None, effects.RollBack("j", "interrupted")),
        (PROBED, effects.WaitOut()),
        (replace(PROBED, drift=("/etc/x changed",)), effects.RollBack("j", "interrupted")),
        (replace(PROBED, probes=SHUT_OUT), effects.RollBack("j", "interrupted")),
    ],
)
def test_only_a_harmless_change_stays_on_the_host_while_an_engine_is_away(probed, step):
    assert decide(stand(trying(**PASSED, probed=probed), waiting=ABSENT)) == step
    failing = trying(**PASSED, probed=probed, failed=failed("vetoed"))
    assert decide(stand(failing, waiting=ABSENT)) == effects.WaitOut(), "its rollback follows by itself"


@pytest.mark.parametrize(
    ("undone", "step"),
    [
        (UNDONE, ask("architect", "reflect")),
        (replace(UNDONE, differences=("/etc/x",)), effects.Halt("the rollback left a difference: /etc/x")),
        (
            replace(UNDONE, probes=SHUT_OUT),
            effects.Halt("the host is not healthy after the rollback: agent-login: refused"),
        ),
    ],
)
def test_a_run_halts_if_a_rollback_did_not_restore_the_host(undone, step):
    assert decide(stand(trying(**{**ON_HOST, "journal": None}, rolled_back=undone))) == step


SPENT = "the run's time is spent; start another for what is left"


@pytest.mark.parametrize(
    ("of", "mode", "more", "step"),
    [
        (FINAL, "auto", {}, effects.CloseItem("A", "deferred", CANNOT_BE_UNDONE)),
        (FINAL, "auto", {"policy": POLICY}, effects.StartItem("A")),
        (FINAL, "review", {}, effects.StartItem("A")),
        (FINAL, "dry-run", {}, effects.StartItem("A")),
        (rule("A"), "auto", {"started_at": NOW - 3000}, effects.StartItem("A")),
        (rule("A"), "auto", {"started_at": NOW - 3001}, effects.CloseItem("A", "deferred", SPENT)),
    ],
)
def test_what_is_taken_up_and_what_is_left_to_a_person_or_another_run(of, mode, more, step):
    assert decide(stand(**IDLE, items={"A": Item("A")}, mode=mode, **more), of) == step


WAITS = effects.CloseItem("A", "deferred", "waits for B, which did not pass")


@pytest.mark.parametrize(
    ("needed", "undecided", "mode", "step"),
    [
        ({}, (), "auto", effects.StartItem("A")),
        ({"B": Item("B", "passed")}, (), "auto", effects.StartItem("A")),
        ({"B": Item("B", "escalated")}, (), "auto", WAITS),
        ({"B": Item("B", "skipped")}, (), "dry-run", effects.StartItem("A")),
        ({}, ("B",), "auto", WAITS),
        ({}, ("B",), "dry-run", WAITS),
    ],
)
def test_a_rule_waits_for_what_it_depends_on(needed, undecided, mode, step):
    scope = RunScoped(order=("A",), compliant=(), undecided=undecided)
    state = stand(**IDLE, items={**needed, "A": Item("A")}, scope=scope, mode=mode)
    assert decide(state, rule("A", depends=("B",)), rule("B")) == step
