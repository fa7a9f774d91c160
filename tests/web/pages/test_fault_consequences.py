"""What a fault means for the run on the page: given these events, this is known of the host."""

import pytest

from app.events import kinds
from app.events.event_field_types import Probe
from app.events.record import GENESIS, build_recorded_event
from app.loop.state import fold_events
from app.runtime.health_faults import HealthFault
from app.web.pages.fault_consequences import FaultedRun
from tests.web.pages.mission_log import EVENTS, FIRST
from tests.web.pages.turns import turn_started

AT = {"rule": FIRST, "attempt": 1}
WELL, HARMED = Probe("login", True, "in"), Probe("login", False, "refused")
BEGUN = [EVENTS[0], kinds.RunStarted(worker="w", confinement="none", scanner="s", probes=(WELL,)), *EVENTS[2:9]]
APPLYING = kinds.ActionApplying(**AT, journal="j")
APPLIED = kinds.ActionApplied(**AT, journal="j", diff="", changes=(), seconds=0.1)
WAITING = kinds.RunWaiting(cause="engine", reason="Engine big is away.", engine="big")
DOWN = HealthFault("engine", "ENGINE DOWN", "Engine big is dead: gone", "It waits.", engines=("big",))


def after(*events):
    told, previous = [], GENESIS
    for seq, event in enumerate((*BEGUN, *events), 1):
        told.append(build_recorded_event("r", seq, 1000.0 + seq, event, previous))
        previous = told[-1].hash
    return FaultedRun(fold_events(told))


def probed(probe):
    return kinds.SentryProbed(**AT, probes=(probe,), drift=(), log=())


def rolled_back(probe):
    said = {"paths": (), "differences": (), "seconds": 0.1}
    return kinds.ActionRolledBack(**AT, journal="j", probes=(probe,), **said)


@pytest.mark.parametrize(
    ("events", "is_well", "words"),
    [
        ((), True, "No change is in progress on fixture."),
        ((APPLYING, APPLIED), False, "the probes have not cleared it. Temper rolls it back if the turn breaks off."),
        ((APPLYING, APPLIED, WAITING), False, "the probes have not cleared it. Temper rolls it back now."),
        ((APPLYING, APPLIED, probed(WELL)), True, "is on fixture, and the probes found no harm."),
        ((APPLYING, APPLIED, probed(HARMED)), False, "the probes have not cleared it."),
        ((APPLYING, APPLIED, kinds.ActionRollingBack(**AT, journal="j", cause="alarm")), False, "is being rolled back"),
        ((APPLYING, APPLIED, probed(HARMED), rolled_back(WELL)), True, "No change is in progress on fixture."),
    ],
)
def test_the_host_is_safe_unless_a_change_on_it_is_not_proven(events, is_well, words):
    change, probes = after(*events).safety_lines
    assert change.is_well == is_well
    assert words in change.text
    assert probes.text.startswith(f"{int(probes.is_well)} of 1 probe answered")
    assert probes.is_well == (events[-1:] != (probed(HARMED),))


def test_before_the_host_was_looked_at_nothing_is_said_of_it():
    assert FaultedRun(fold_events([build_recorded_event("r", 1, 1.0, EVENTS[0], GENESIS)])).safety_lines == ()


def test_it_says_when_temper_tries_again():
    assert "asks the engine again every half second, and at most every 15 s" in after(
        WAITING
    ).describe_what_temper_does(DOWN)
    turn = after(turn_started("t", "worker")).describe_what_temper_does(DOWN)
    assert turn.startswith("Temper ends the Worker's turn after 60 s without a token")
    assert (
        after().describe_what_temper_does(DOWN) == "The run continues until it needs the engine, and then waits for it."
    )
    log = HealthFault("log", "LOG STALLED", "No log.", "Runs resume by themselves.")
    assert after(WAITING).describe_what_temper_does(log) == "Runs resume by themselves."


def test_only_engines_that_temper_started_have_a_button():
    assert after().list_buttons_for_engines(DOWN) == ()
    (press,) = FaultedRun(after().state, ["big"]).list_buttons_for_engines(DOWN)
    assert (press.action, press.verb, press.words) == ("/ops/engines/big", "start", "Start big")
