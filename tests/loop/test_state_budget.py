"""Which time and which tokens a run is charged for, and how an item's story ends up in its state."""

import pytest
from msgspec.structs import replace

from app.events.event_field_types import Budget, Lesson, PendingSetting, Probe, SetOption
from app.events.hosts_of_waiver_or_site_value import HostScope
from app.events.kinds import (
    ActionProposed,
    ActionRolledBack,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    CandidatesGathered,
    InForceChecked,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    LessonLearnt,
    RebootReturned,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunScoped,
    RunStopped,
    RunStopRequested,
    RunWaitEnded,
    RunWaiting,
    ScanFinished,
    ScanProgressed,
    ScanStarted,
    TurnDelta,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    VerdictGiven,
)
from app.events.record import build_recorded_event
from app.events.waiver_in_force import Waiver
from app.loop.state import (
    SILENT_SECONDS,
    Item,
    RunState,
    ScannerMove,
    explain_time_or_token_overspending,
    find_active_waiver,
    fold_events,
    get_seconds_for_next_turn,
    get_unobserved_gap_seconds,
)
from tests.evidence.logs import started
from tests.loop.playing import FIX, PROPOSED, SOUND, pack, request, rule

SKILL = pack([rule("A"), rule("B")])
BUDGET = Budget(run_seconds=1000, item_seconds=500, turn_seconds=100, item_tokens=50)
LONGEST = BUDGET.turn_seconds + SILENT_SECONDS
AT = {"rule": "A", "attempt": 1}
QUEUED, STARTED = request(SKILL, budget=BUDGET), started(probes=SOUND)
ITEM = (ItemStarted(rule="A", title="", category="II"), AttemptStarted(**AT, lessons=()))
SCOPED = RunScoped(order=("A", "B"), compliant=(), undecided=())
PAUSED, RESUMED = RunPaused(by="ada"), RunResumed(by="ada")
CRASHED = RunResumed(by="w", after_crash=True)
WAITING, ENDED = RunWaiting(cause="engine", reason="", engine="e"), RunWaitEnded(seconds=1)
ASKED = ApprovalRequested(**AT, approval="a", binds="", expires=9e9)
GIVEN, REFUSED = ApprovalGiven(approval="a", by="ada", reason=""), ApprovalRefused(approval="a", by="ada", reason="")
TURN = {"turn": "t", "role": "worker", "purpose": "act"}
BEGUN = TurnStarted(**AT, **TURN, engine="e", model="m", replica=0, max_tokens=1, prompt=("", ""))
TOLD = TurnFinished(**TURN, outcome="answered", detail="", thought="", answer="", prompt_tokens=20, completion_tokens=4)


def fold(*timed, begun=()):
    """A run that was ordered at 0 and started at 10, with what came later."""
    events = [(0.0, QUEUED), (10.0, STARTED), *((10.0, event) for event in begun), *timed]
    return fold_events(build_recorded_event("r", seq, at, event, "x") for seq, (at, event) in enumerate(events, 1))


IDLE = {
    "a pause": ([(100, PAUSED), (160, RESUMED)], 60, None),
    "a pause that lasts": ([(100, PAUSED), (160, ScanStarted(phase="opening", rules=1))], 0, 100),
    "a pause in a pause": ([(100, PAUSED), (120, PAUSED), (160, RESUMED)], 60, None),
    "nothing to resume from": ([(100, RESUMED)], 0, None),
    "a fault": ([(100, WAITING), (150, ENDED)], 50, None),
    "a fault within a pause": ([(100, PAUSED), (120, WAITING), (150, ENDED)], 50, 150),
    "a pause beyond a fault": ([(100, PAUSED), (120, WAITING), (150, ENDED), (180, RESUMED)], 80, None),
    "a pause within a fault": ([(100, WAITING), (120, PAUSED), (150, RESUMED)], 50, 150),
    "a fault beyond a pause": ([(100, WAITING), (120, PAUSED), (150, RESUMED), (200, ENDED)], 100, None),
    "a crash": ([(100, ScanStarted(phase="opening", rules=1)), (300, CRASHED)], 200, None),
    "a crash within a pause": ([(100, PAUSED), (150, CRASHED)], 50, 150),
    "a machine that slept": ([(11 + LONGEST, ScanStarted(phase="opening", rules=1))], 1 + LONGEST, None),
    "the longest turn": ([(10 + LONGEST, ScanStarted(phase="opening", rules=1))], 0, None),
    "a clock that was set back": ([(4, ScanStarted(phase="opening", rules=1))], -6, None),
    "an answer of a lost engine": ([(100, replace(TOLD, lost=True, seconds=30.0))], 30, None),
    "an answer": ([(100, replace(TOLD, seconds=30.0))], 0, None),
    "a turn behind others": ([(100, replace(BEGUN, waited_ms=5000))], 5, None),
    "a turn": ([(100, BEGUN)], 0, None),
}


@pytest.mark.parametrize("name", IDLE)
def test_time_in_which_a_run_cannot_work_is_not_charged(name):
    timed, idle, since = IDLE[name]
    state = fold(*timed)
    assert (state.started_at, state.idle_since) == (10 + idle, since)
    assert state.at == timed[-1][0]
    of_item = fold(*timed, begun=(SCOPED, *ITEM))
    assert (of_item.started_at, of_item.items["A"].started, of_item.items["B"].started) == (10 + idle, 10 + idle, 0)


OF_TWO = {
    "an answer": ([(100, ASKED), (160, GIVEN)], 60, None),
    "a refusal": ([(100, ASKED), (160, REFUSED)], 60, None),
    "the first of two": ([(100, ASKED), (160, replace(GIVEN, given=1, of=2))], 0, 100),
    "the second of two": ([(100, ASKED), (160, replace(GIVEN, given=2, of=2))], 60, None),
    "an answer in a pause": ([(100, ASKED), (120, PAUSED), (150, GIVEN)], 50, 150),
    "an answer before its pause ends": ([(100, ASKED), (120, PAUSED), (150, GIVEN), (170, RESUMED)], 70, None),
    "a pause before its answer": ([(100, ASKED), (120, PAUSED), (150, RESUMED)], 50, 150),
    "an answer during a fault": ([(100, ASKED), (120, WAITING), (150, GIVEN)], 50, 150),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_waiting_for_a_person_is_not_charged(name):
    timed, idle, since = OF_TWO[name]
    state = fold(*timed, begun=(SCOPED, *ITEM))
    assert (state.items["A"].started, state.idle_since) == (10 + idle, since)


def test_time_alone_is_charged_up_to_what_a_working_run_may_be_silent_for():
    state = fold()
    assert get_unobserved_gap_seconds(state, 10 + LONGEST) == 0
    assert get_unobserved_gap_seconds(state, 11 + LONGEST) == 1 + LONGEST
    assert get_unobserved_gap_seconds(state, 10) == 0
    assert get_unobserved_gap_seconds(state, 4) == -6
    assert get_unobserved_gap_seconds(fold((20, PAUSED)), 9000) == 0
    assert get_unobserved_gap_seconds(RunState(), 9000) == 0


@pytest.mark.parametrize(
    ("tokens", "item_began", "run_began", "told"),
    [
        (49, 501, 501, None),
        (50, 501, 501, "the item's 50 tokens are spent"),
        (0, 500, 500, "the item's 500 s are spent"),
        (0, 900, 0, "the run's 1000 s are spent"),
        (0, 900, 1, None),
    ],
)
def test_an_item_has_spent_its_budget_once_tokens_or_time_are_used_up(tokens, item_began, run_began, told):
    state, item = replace(fold(), started_at=float(run_began), at=1000.0), Item("A", started=item_began, tokens=tokens)
    assert explain_time_or_token_overspending(item, state, 1000.0) == told


@pytest.mark.parametrize(
    ("item_began", "run_began", "left"),
    [(900, 900, 100), (540, 540, 40), (900, 20, 20), (500, 0, 0), (100, 100, 0), (500.5, 900, 0.5)],
)
def test_a_turn_has_what_is_left_of_item_and_run(item_began, run_began, left):
    state, item = replace(fold(), started_at=float(run_began), at=1000.0), Item("A", started=item_began)
    assert get_seconds_for_next_turn(state, item, 1000.0) == left
    slept = 1000.0 + LONGEST + 50
    assert get_seconds_for_next_turn(state, item, slept) == left, "a machine that slept loses nothing"
    assert (explain_time_or_token_overspending(item, state, slept) is None) == (left > 0)


def test_tokens_are_charged_to_the_item_of_the_turn_and_to_none_if_the_engine_was_lost():
    told = (SCOPED, *ITEM, BEGUN, TOLD)
    assert fold(begun=told).items["A"].tokens == 24
    assert fold(begun=(*told, BEGUN, TOLD)).items["A"].tokens == 48
    assert fold(begun=(*told[:-1], replace(TOLD, lost=True))).items["A"].tokens == 0
    assert fold(begun=told).items["B"].tokens == 0


def test_a_turn_is_under_way_from_its_start_to_its_end():
    piece = TurnDelta(turn="t", role="worker", channel="answer", text="x", tokens=1)
    assert fold(begun=(BEGUN, piece)).turn == BEGUN
    for end in (TOLD, replace(TOLD, lost=True), TurnInterrupted(turn="t", reason="")):
        assert fold(begun=(BEGUN, end)).turn is None


def test_a_scan_is_followed_until_it_is_finished():
    half = ScanProgressed(phase="opening", judged=1, rules=2)
    assert fold(begun=(half,)).scanning == half
    done = fold(begun=(half, ScanFinished(phase="opening", seconds=1)))
    assert (done.scanning, done.scanned) == (None, {"opening"})
    assert fold(begun=[ScanFinished(phase=one, seconds=1) for one in ("opening", "closing")]).scanned == {
        "opening",
        "closing",
    }


def test_each_phase_of_scanning_has_its_own_verdicts():
    given = {phase: VerdictGiven(rule="A", phase=phase, word="fail", evidence="", scanner="") for phase in
             ("opening", "recheck", "closing")}  # fmt: skip
    state = fold(begun=(SCOPED, *given.values()))
    assert (state.opening, state.closing) == ({"A": given["opening"]}, {"A": given["closing"]})
    assert (state.items["A"].rechecked, state.items["B"].rechecked) == (given["recheck"], None)
    other = replace(given["opening"], rule="B")
    assert fold(begun=(given["opening"], other)).opening == {"A": given["opening"], "B": other}


END = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ((), "running"),
        ((PAUSED,), "paused"),
        ((PAUSED, RESUMED), "running"),
        ((PAUSED, CRASHED), "paused"),
        ((WAITING, RunFailed(reason="")), "failed"),
        ((RunStopRequested(by="", reason=""), RunStopped(by="", reason="", tree="")), "stopped"),
        ((END,), "finished"),
    ],
)
def test_a_run_is_in_the_state_that_its_last_event_of_state_says(events, status):
    state = fold(begun=events)
    assert state.status == status
    assert (state.ended == events[-1]) if status in ("failed", "stopped", "finished") else (state.ended is None)
    assert state.waiting is None
    assert bool(state.stopping) == (status == "stopped")


def test_a_run_is_worked_on_by_whoever_took_it_over_last():
    assert fold().worker == "w"
    assert fold(begun=(replace(CRASHED, by="other"),)).worker == "other"
    assert fold(begun=(PAUSED, RESUMED)).worker == "w", "a person does not work on it"


@pytest.mark.parametrize(
    ("end", "status", "left"),
    [
        (ItemPassed(rule="A", attempts=1), "passed", False),
        (ItemEscalated(rule="A", reason="r", question="q"), "escalated", True),
        (ItemSkipped(rule="A", reason="r"), "skipped", True),
        (ItemSkipped(rule="A", reason="r", waiver="w"), "waived", False),
        (ItemDeferred(rule="A", reason="r"), "deferred", True),
    ],
)
def test_an_item_ends_once_and_says_what_is_left_to_a_person(end, status, left):
    state = fold((20, ITEM[0]), (50, end), begun=(SCOPED,))
    item = state.items["A"]
    assert (item.status, item.started, item.ended, item.has_ended_needing_human_action) == (status, 20, 50, left)
    assert (item.reason, item.question) == (getattr(end, "reason", ""), getattr(end, "question", ""))
    assert (state.working, state.item, state.attempt) == (None, None, None)
    settled = replace(item, rechecked=VerdictGiven(rule="A", phase="recheck", word="notapplicable", **SCANNED))
    assert not settled.has_ended_needing_human_action
    assert replace(settled, rechecked=replace(settled.rechecked, word="fail")).has_ended_needing_human_action == left


SCANNED = {"evidence": "", "scanner": "s"}


def test_an_item_that_is_reopened_after_the_reboot_keeps_the_time_at_which_it_was_fixed():
    again = ItemEscalated(rule="A", reason="r", reopened=True)
    state = fold((20, ITEM[0]), (50, ItemPassed(rule="A", attempts=1)), (90, again), begun=(SCOPED,))
    assert (state.items["A"].status, state.items["A"].ended) == ("escalated", 50)
    later = fold((50, ItemPassed(rule="A", attempts=1)), (90, replace(again, reopened=False)), begun=(SCOPED, *ITEM))
    assert later.items["A"].ended == 90


CHANGE = SetOption(path="/etc/x", key="k", value="v")
PROPOSAL = ActionProposed(**AT, actions=(CHANGE,), note="", fingerprint="f", diff="")
ELSEWHERE = VerdictGiven(**AT, phase="attempt", word="fail", path="/etc/y", **SCANNED)
FAILURE = AttemptFailed(**AT, cause="scanner", reason="")


@pytest.mark.parametrize(
    ("events", "moved"),
    [
        ((PROPOSAL, ELSEWHERE, FAILURE), (ScannerMove(frozenset({"/etc/x"}), "/etc/y"),)),
        ((PROPOSAL, ELSEWHERE, replace(FAILURE, cause="vetoed")), ()),
        ((PROPOSAL, replace(ELSEWHERE, path=None), FAILURE), ()),
        ((PROPOSAL, FAILURE), ()),
        ((ELSEWHERE, FAILURE), ()),
    ],
)
def test_where_the_scanner_points_after_a_change_is_remembered(events, moved):
    item = fold(begun=(SCOPED, *ITEM, *events)).items["A"]
    assert (item.moved, item.failures, item.replayed) == (moved, (events[-1],), False)


def test_what_an_item_learnt_outlives_its_attempts():
    lesson = Lesson(id="1", rule="A", mechanism="", environment="", advice="")
    pivot = AttemptReflected(**AT, decision="PIVOT", reason="", banned=("f",))
    told = (
        CandidatesGathered(rule="A", candidates=PROPOSED),
        LessonLearnt(**AT, lesson=lesson),
        replace(FAILURE, replayed="r0.A.1"),
        pivot,
        AttemptStarted(rule="A", attempt=2, lessons=(lesson,), seen="s", offered=FIX, vendor=True),
        replace(FAILURE, attempt=2),
        replace(pivot, attempt=2, decision="CONTINUE", banned=("g", "h")),
    )
    item = fold(begun=(SCOPED, *ITEM, *told)).items["A"]
    assert (item.candidates, item.lessons, item.tried) == (PROPOSED, (lesson,), ("f", "g", "h"))
    assert (item.pivoted, item.replayed, len(item.failures)) == (True, True, 2)
    assert (item.attempt.number, item.attempt.lessons, item.attempt.seen) == (2, (lesson,), "s")
    assert (item.attempt.offered, item.attempt.vendor, item.attempt.started) == (FIX, True, 10)


def test_events_of_no_item_leave_every_item_alone():
    idle = fold(begun=(SCOPED,)).items
    assert fold(begun=(SCOPED, PROPOSAL, FAILURE)).items == idle
    state = fold(begun=(SCOPED, ITEM[0], FAILURE))
    assert (state.items["A"].failures, state.items["B"]) == ((), Item("B"))


def test_only_probes_of_what_has_happened_keep_what_a_rollback_found():
    denied, login = Probe("selinux-denials", False, "denied"), Probe("agent-login", False, "shut out")
    undone = ActionRolledBack(**AT, journal="j", paths=(), differences=(), probes=(denied, login), seconds=0)
    state = fold(begun=(SCOPED, *ITEM, undone))
    assert state.history == (denied,)
    assert state.baseline_probes == SOUND
    before = replace(STARTED, probes=(*SOUND, Probe("selinux-denials", True, "")))
    assert replace(state, started=before).baseline_probes == (*SOUND, denied)
    assert RunState().baseline_probes == ()


def test_settings_that_a_reboot_brought_into_force_are_pending_no_more():
    kernel, sshd = (
        PendingSetting(program=one, setting="s", wanted="1", running="0", by="") for one in ("kernel", "sshd")
    )
    checked = InForceChecked(rule="A", attempt=1, behind=(kernel, sshd))
    back = RebootReturned(host="h", boot="b", seconds=1, probes=SOUND)
    done = (SCOPED, *ITEM, checked, ItemPassed(rule="A", attempts=1))
    after = InForceChecked(boot="b", behind=(sshd,))
    assert fold(begun=(*done, after)).items["A"].attempt.force == checked, "no reboot has come in between"
    state = fold(begun=(*done, back, after))
    assert state.items["A"].attempt.force == replace(checked, behind=(sshd,))
    assert state.items["B"].attempt is None


def test_the_waiver_that_holds_longest_counts_for_its_rule_alone():
    given = {"owner": "o", "reason": "", "ticket": "", "since": "", "scope": HostScope()}
    known = [Waiver(id=id_, rule=rule, until=until, **given) for id_, rule, until in
             (("1", "A", "2030-01-01"), ("2", "A", "2031-01-01"), ("3", "B", "2032-01-01"))]  # fmt: skip
    state = replace(fold(), started=started(waivers=tuple(known)))
    assert find_active_waiver(state, "A", 0.0) == known[1]
    assert find_active_waiver(state, "C", 0.0) is None
    assert find_active_waiver(RunState(), "A", 0.0) is None


def test_a_fold_says_which_run_and_which_event_it_stands_at():
    state = fold((20, PAUSED))
    assert (state.run, state.seq, state.at) == ("r", 3, 20)
    assert (RunState().budget, state.budget, RunState().has_no_model) == (Budget(), BUDGET, False)
    assert replace(state, request=replace(QUEUED, engine="none")).has_no_model
    assert not state.has_no_model
