"""decide() over every way that things may come out: whatever happens, the run ends and the host is accounted for."""

import random
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.events.approval_policy import PeopleNeeded
from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionApplying,
    ActionRefused,
    ActionRolledBack,
    ActionRollingBack,
    ActionsAllowed,
    ApprovalEdited,
    ApprovalGiven,
    FactsGathered,
    ItemEscalated,
    ItemPassed,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStopped,
    RunStopRequested,
    RunWaiting,
    SentryProbed,
)
from app.loop.decide import decide_next_effect
from app.loop.effects import (
    Apply,
    Ask,
    CloseItem,
    Halt,
    Judge,
    Propose,
    Rehearse,
    RollBack,
    StartAttempt,
    TakeVendors,
    Wait,
    WaitOut,
)
from app.loop.state import fold_events
from tests.loop.playing import SHUT_OUT, SOUND, World, pack, request, rule
from tests.thorough import examples

PACK = pack([rule("A"), rule("B", depends=("A",)), rule("C"), rule("D", irreversible=True)])


def chance(seed):
    dice = random.Random(seed)
    return lambda _, choices: dice.choice(choices)


def scripted(**wanted):
    """The first choice everywhere, but for what is named: a value, or a list used up in order."""
    left = {name: list(value) if isinstance(value, list) else None for name, value in wanted.items()}

    def draw(name, choices):
        if name not in wanted:
            return choices[0]
        if left[name] is None:
            return wanted[name]
        return left[name].pop(0) if left[name] else choices[0]

    return draw


def played(skill=PACK, mode="auto", budget=None, **wanted):
    world = World(skill, scripted(**wanted))
    world.put(request(skill, mode=mode, budget=budget))
    world.play()
    return world


def kinds(world, *types):
    return [type(recorded.event).__name__ for recorded in world.log if isinstance(recorded.event, types)]


@settings(max_examples=examples(100, 4500), deadline=None)
@given(seed=st.integers(0, 2**32), mode=st.sampled_from(["auto", "review", "dry-run"]))
def test_whatever_happens_the_run_ends_and_every_change_is_kept_or_undone(seed, mode):
    world = World(PACK, chance(seed))
    world.put(request(PACK, mode=mode))
    world.play()
    ended = world.state.ended
    if isinstance(ended, RunFinished):
        assert all(item.status not in ("waiting", "working") for item in world.state.items.values())
    else:
        assert isinstance(ended, RunFailed)
    allowed = False
    approved = False
    open_journal = None
    for recorded in world.log:
        match recorded.event:
            case ActionsAllowed():
                allowed = True
            case ApprovalGiven():
                approved = True
            case ApprovalEdited():
                allowed = approved = False
            case ActionApplying() as event:
                assert allowed
                assert mode != "dry-run"
                assert approved or mode == "auto"
                assert open_journal is None
                open_journal = event.journal
            case ActionRolledBack() as event:
                assert event.journal == open_journal
                open_journal, allowed = None, not event.differences
            case ItemPassed():
                open_journal, allowed, approved = None, False, False
            case ItemEscalated():
                assert open_journal is None
                allowed = approved = False
    assert open_journal is None or isinstance(ended, RunFailed)


@settings(max_examples=examples(50, 1500), deadline=None)
@given(seed=st.integers(0, 2**32), share=st.floats(0, 1))
def test_the_fold_of_a_log_does_not_depend_on_where_it_was_cut(seed, share):
    world = World(PACK, chance(seed))
    world.put(request(PACK))
    world.play()
    cut = int(share * len(world.log))
    assert fold_events(world.log[cut:], fold_events(world.log[:cut])) == fold_events(world.log) == world.state


@settings(max_examples=examples(50, 1500), deadline=None)
@given(seed=st.integers(0, 2**32), moment=st.integers(0, 80))
def test_a_stop_at_any_moment_undoes_the_change_in_hand_and_ends_every_item(seed, moment):
    world = World(PACK, chance(seed))
    world.put(request(PACK))
    for _ in range(moment):
        effect = decide_next_effect(world.state, PACK, world.now)
        if world.state.ended:
            return
        world.come_out(effect)
    if world.state.ended:
        return
    world.put(RunStopRequested(by="p", reason="enough"))
    world.play()
    assert isinstance(world.state.ended, RunStopped | RunFailed)
    attempt = world.state.item.attempt if world.state.item else None
    if isinstance(world.state.ended, RunStopped):
        assert attempt is None
        assert all(item.status not in ("waiting", "working") for item in world.state.items.values())


def test_a_refused_change_never_runs():
    world = played(pack([rule("A")]), policy="refuse", decision="ESCALATE")
    assert not kinds(world, ActionApplying)
    assert len(kinds(world, ActionRefused)) == 3
    assert world.state.items["A"].status == "escalated"


def test_what_went_wrong_is_noted_before_the_change_is_undone():
    world = played(pack([rule("A")]), verdict=["fail", "pass"])
    assert kinds(world, FactsGathered, ActionRollingBack) == ["FactsGathered", "ActionRollingBack"]


def test_escalate_counts_only_every_third_attempt():
    world = played(pack([rule("A")]), verdict="fail", decision="ESCALATE", approach=["a", "b", "c"])
    assert [effect.number for effect in world.effects if isinstance(effect, StartAttempt)] == [1, 2, 3]


def test_the_vendors_script_comes_after_all_else_and_by_a_persons_yes():
    skill, budget = pack([rule("A", remedy=True)]), Budget(attempts=2)
    world = played(skill, "review", budget, verdict=["fail", "fail", "pass"])
    started = [(one.number, one.vendor) for one in world.effects if isinstance(one, StartAttempt)]
    assert started == [(1, False), (2, False), (3, True)]
    assert len([one for one in world.effects if isinstance(one, TakeVendors)]) == 1
    assert len(kinds(world, ApprovalGiven)) == 3
    assert world.state.items["A"].status == "passed"


@pytest.mark.parametrize("person", ["refuse", "nobody"])
def test_without_a_yes_the_vendors_script_is_not_run(person):
    skill, budget = pack([rule("A", remedy=True)]), Budget(attempts=1)
    world = played(skill, "review", budget, verdict="fail", person=["approve", person])
    assert len(kinds(world, ActionApplying)) == 1
    assert world.state.items["A"].status == ("escalated" if person == "refuse" else "deferred")


def test_what_a_person_made_of_the_vendors_script_takes_its_place():
    skill, budget = pack([rule("A", remedy=True)]), Budget(attempts=1)
    world = played(skill, "review", budget, verdict=["fail", "pass"], person=["approve", "edit", "approve"])
    taken = [type(one) for one in world.effects if isinstance(one, TakeVendors | Propose)]
    assert taken == [TakeVendors, Propose]
    assert world.state.items["A"].status == "passed"


def test_it_fails_once_and_is_not_tried_again():
    skill, budget = pack([rule("A", remedy=True)]), Budget(attempts=1)
    world = played(skill, "review", budget, verdict="fail")
    assert len([one for one in world.effects if isinstance(one, StartAttempt)]) == 2
    assert "the last resort, did not pass either" in world.state.items["A"].reason


def test_where_nobody_is_asked_it_is_left_to_a_person():
    world = played(pack([rule("A", remedy=True)]), "auto", Budget(attempts=1), verdict="fail")
    assert not [one for one in world.effects if isinstance(one, TakeVendors)]
    assert "run the rule in review mode" in world.state.items["A"].reason


def test_healthy_distinct_approaches_after_a_pivot_point_at_the_scanner():
    world = played(pack([rule("A")]), verdict="fail", decision="PIVOT", approach=["a", "b", "c", "d", "e"])
    assert "4 different approaches" in world.state.items["A"].reason


def test_distinct_approaches_without_a_pivot_do_not_point_at_the_scanner():
    world = played(pack([rule("A")]), verdict="fail", decision="CONTINUE", approach=["a", "b", "c", "d", "e"])
    assert "attempts did not pass" in world.state.items["A"].reason


def test_a_rule_waits_for_the_rule_it_depends_on():
    world = played(verdict="fail", decision="ESCALATE", approach=["a", "b", "c", "a", "b", "c"])
    assert world.state.items["B"].status == "deferred"
    assert "waits for A" in world.state.items["B"].reason


def test_what_cannot_be_undone_comes_last_and_waits_for_a_person_in_auto_mode():
    world = played()
    assert list(world.state.items)[-1] == "D"
    assert world.state.items["D"].status == "deferred"


def test_a_silent_sentry_leaves_the_probes_alone_to_decide():
    world = played(pack([rule("A")]), turn=["answered"] * 3 + ["broken"] * 3)
    assert world.state.items["A"].status == "passed"


def test_a_rollback_that_leaves_a_difference_halts_the_run():
    world = played(verdict="fail", rollback="differs")
    assert isinstance(world.effects[-2], Halt)
    assert "left a difference" in world.state.ended.reason


@pytest.mark.parametrize(
    ("budget", "words"), [(Budget(item_seconds=4), "s are spent"), (Budget(item_tokens=9), "tokens are spent")]
)
def test_an_item_over_its_budget_is_undone_and_escalated(budget, words):
    world = played(pack([rule("A")]), budget=budget)
    assert world.state.items["A"].status == "escalated"
    assert words in world.state.items["A"].reason


def test_a_run_over_its_time_defers_what_is_left():
    world = played(pack([rule("A"), rule("C")]), budget=Budget(run_seconds=12))
    assert world.state.items["C"].status == "deferred"
    assert isinstance(world.state.ended, RunFinished)


def test_paused_time_and_waiting_for_a_person_cost_no_budget():
    world = World(pack([rule("A")]), scripted())
    world.put(request(world.skill, mode="review", budget=Budget(item_seconds=100, approval_seconds=9e9)))
    while not isinstance(effect := decide_next_effect(world.state, world.skill, world.now), Wait):
        world.come_out(effect)
    world.now += 5000
    world.put(RunPaused(by="p"))
    world.now += 5000
    world.put(RunResumed(by="p"))
    world.now += 5000
    approval = world.state.item.attempt.approval.approval
    world.put(ApprovalGiven(approval=approval, by="p", reason=""))
    world.play()
    assert world.state.items["A"].status == "passed"


def test_a_run_that_goes_on_in_the_middle_of_an_attempt_is_idle_no_more():
    world = World(pack([rule("A")]), scripted())
    world.put(request(world.skill))
    while not world.state.attempt:
        world.come_out(decide_next_effect(world.state, world.skill, world.now))
    world.put(RunPaused(by="p"))
    assert world.state.idle_since == world.now
    world.put(RunResumed(by="p"))
    assert world.state.idle_since is None


def test_a_pause_waits_until_the_change_in_hand_is_kept_or_undone():
    world = World(pack([rule("A"), rule("C")]), scripted())
    world.put(request(world.skill))
    while not (world.state.item and world.state.item.attempt and world.state.item.attempt.has_apply_outcome):
        world.come_out(decide_next_effect(world.state, world.skill, world.now))
    world.put(RunPaused(by="p"))
    while not isinstance(effect := decide_next_effect(world.state, world.skill, world.now), Wait):
        world.come_out(effect)
    assert world.state.items["A"].status == "passed"
    assert world.state.items["C"].status == "waiting"


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_a_clock_that_was_set_and_a_machine_that_slept_cost_no_budget(jump):
    world = World(pack([rule("A")]), scripted())
    world.put(request(world.skill, budget=Budget(item_seconds=100, run_seconds=200)))
    while not isinstance(effect := decide_next_effect(world.state, world.skill, world.now), Ask):
        world.come_out(effect)
    world.now += jump
    assert decide_next_effect(world.state, world.skill, world.now).seconds == pytest.approx(effect.seconds, abs=1)
    world.play()
    assert world.state.items["A"].status == "passed"


@pytest.mark.parametrize("probes", [None, SHUT_OUT, SOUND])
def test_while_an_engine_is_away_only_a_change_that_the_probes_cleared_stays_on_the_host(probes):
    world = World(pack([rule("A")]), scripted())
    world.put(request(world.skill))
    while not (world.state.attempt and world.state.attempt.applied):
        world.come_out(decide_next_effect(world.state, world.skill, world.now))
    if probes:
        world.put(SentryProbed(rule="A", attempt=1, probes=probes, drift=(), log=()))
    world.put(RunWaiting(cause="engine", reason="Engine e is away.", engine="e"))
    stays = RollBack(world.state.attempt.journal, "interrupted") if probes != SOUND else WaitOut()
    assert decide_next_effect(world.state, world.skill, world.now) == stays


@pytest.mark.parametrize(("people", "effect"), [(0, Apply), (1, Rehearse)])
def test_the_policy_decides_whether_a_person_is_asked_before_a_change(people, effect):
    world = World(pack([rule("A")]), scripted())
    world.put(request(world.skill, mode="review"))
    while not isinstance(decide_next_effect(world.state, world.skill, world.now), Judge):
        world.come_out(decide_next_effect(world.state, world.skill, world.now))
    world.put(ActionsAllowed(rule="A", attempt=1, needs=PeopleNeeded(people=people, why="", by="")))
    assert isinstance(decide_next_effect(world.state, world.skill, world.now), effect)


def test_without_a_model_and_a_proposal_the_first_attempt_is_the_last():
    skill = pack([replace(rule("A"), foreign=True)])
    world = World(skill, scripted())
    world.put(msgspec.structs.replace(request(skill), engine="none"))
    world.play()
    assert len([one for one in world.effects if isinstance(one, StartAttempt)]) == 1
    assert "nothing is proposed that can be done here" in world.state.items["A"].reason


def test_nobody_approves_in_time_and_the_item_is_deferred():
    world = played(pack([rule("A")]), mode="review", person="nobody")
    assert world.state.items["A"].status == "deferred"
    assert not kinds(world, ActionApplying)


def test_a_dry_run_rehearses_and_changes_nothing():
    world = played(mode="dry-run")
    assert {item.status for item in world.state.items.values()} == {"skipped"}
    assert not kinds(world, ActionApplying)
    assert any(isinstance(effect, CloseItem) and "would say pass" in effect.reason for effect in world.effects)
