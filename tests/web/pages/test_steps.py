"""The path of an attempt: given these events, these signs."""

from app.events.kinds import (
    ActionApplied,
    ActionRolledBack,
    AttemptStarted,
    ItemStarted,
    PlanMade,
    RunScoped,
    RunWaiting,
    SentryAlarm,
    VerdictGiven,
)
from app.events.record import GENESIS, build_recorded_event
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.steps import list_role_steps_with_signs
from tests.web.pages.turns import turn_started

HERE = {"rule": "V-1", "attempt": 1}
SCOPE = RunScoped(order=("V-1",), compliant=(), undecided=())
ITEM = ItemStarted(rule="V-1", title="", category="II")
VERDICT = VerdictGiven(**HERE, phase="attempt", word="pass", evidence="", scanner="built-in")


def path_after(*events):
    mission = Mission()
    for seq, event in enumerate((SCOPE, ITEM, AttemptStarted(**HERE, lessons=()), *events), 1):
        mission.apply_event(build_recorded_event("r", seq, 1000.0 + seq, event, GENESIS))
    return [(step.name, step.sign) for step in list_role_steps_with_signs(mission)]


def test_nothing_is_signed_before_it_is_done():
    assert path_after(turn_started("t1", "architect")) == [("Plan", ""), ("Change", ""), ("Verify", ""), ("Watch", "")]


def test_a_step_whose_turn_broke_off_is_signed_while_the_run_waits():
    away = RunWaiting(cause="engine", reason="Engine big is away.", engine="big")
    assert path_after(turn_started("t1", "architect"), away)[0] == ("Plan", "✗")
    planned = PlanMade(**HERE, approach="", paths=(), steps=(), risk="", rollback="", validation="")
    assert path_after(planned, away)[0] == ("Plan", "✓"), "what is done stays done"


def test_a_change_that_harms_is_signed_where_it_was_found_and_undone():
    applied = ActionApplied(**HERE, journal="j", diff="", changes=(), seconds=0.1)
    alarm = SentryAlarm(**HERE, reason="backup-login: refused", by="probe")
    undone = ActionRolledBack(**HERE, journal="j", paths=(), differences=(), probes=(), seconds=0.1)
    assert path_after(applied, VERDICT)[1:] == [("Change", "✓"), ("Verify", "✓"), ("Watch", "")]
    assert path_after(applied, VERDICT, alarm, undone)[1:] == [("Change", "↺"), ("Verify", "✓"), ("Watch", "!")]


def test_a_rollback_that_left_differences_is_no_rollback():
    undone = ActionRolledBack(**HERE, journal="j", paths=(), differences=("/etc/x",), probes=(), seconds=0.1)
    assert path_after(undone)[1] == ("Change", "✗")
