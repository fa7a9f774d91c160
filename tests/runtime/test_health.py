"""What counts as broken, in what words, and what stops work."""

from dataclasses import replace

import pytest

from app.events.kinds import EngineState, RunWaiting
from app.runtime.health import LATE_ANSWER, LATE_POLL, LATE_WRITE, Conditions, find_faults
from app.store.nodes import NodeStatus

NOW = 1_000_000.0


def with_engine(state, *, seated=("big",)):
    return Conditions(
        NOW, engines={"big": (NOW - 3, EngineState(engine="big", state=state, detail="why"))}, seated=seated
    )


WELL = with_engine("ready")


def found(conditions):
    return [(fault.kind, fault.badge, fault.since, fault.stops_work) for fault in find_faults(conditions)]


def test_nothing_is_broken_while_engines_are_ready_or_load():
    assert found(WELL) == found(with_engine("loading")) == []


@pytest.mark.parametrize(
    ("state", "badge"), [("dead", "ENGINE DOWN"), ("absent", "ENGINE DOWN"), ("stalled", "ENGINE FROZEN")]
)
def test_an_engine_that_does_not_serve_stops_work_only_if_it_has_a_role(state, badge):
    assert found(with_engine(state)) == [("engine", badge, NOW - 3, True)]
    assert found(with_engine(state, seated=())) == [("engine", badge, NOW - 3, False)]


def test_a_degraded_engine_is_named_and_work_goes_on():
    assert found(with_engine("degraded")) == [("engine", "ENGINE DEGRADED", NOW - 3, False)]


def test_a_simulator_that_is_gone_stands_for_all_its_engines():
    assert found(replace(with_engine("dead"), simulator=False)) == [("simulator", "ENGINES DOWN", NOW - 3, True)]


def test_a_log_that_cannot_be_written_and_a_silent_database_are_told_with_their_beginning():
    broken = replace(WELL, unwritten=LATE_WRITE + 1, unanswered=4.0)
    assert found(broken) == [
        ("log", "LOG STALLED", NOW - LATE_WRITE - 1, True),
        ("database", "NO DATABASE", NOW - 4.0, True),
    ]
    assert found(replace(WELL, unwritten=LATE_WRITE)) == []
    assert found(replace(broken, broken_log=True))[0] == ("log", "LOG STOPPED", None, True)


def test_a_worker_that_sends_no_heartbeat_stops_its_run():
    node = NodeStatus("n1", "worker", NOW, 3.0, leads=False, runs=("r1",))
    assert found(replace(WELL, silent_worker=node)) == [("node", "NODE SILENT", NOW - 3.0, True)]


def test_readings_that_are_old_or_awaited_are_told_and_stop_nothing():
    assert found(replace(WELL, unpolled=LATE_POLL + 1)) == [("sampler", "NO READINGS", NOW - LATE_POLL - 1, False)]
    late = replace(WELL, waits_for_engines=LATE_ANSWER + 0.5)
    assert found(late) == [("engine", "ENGINE SLOW", NOW - LATE_ANSWER - 0.5, False)]
    stalled = replace(with_engine("stalled"), waits_for_engines=2.0)
    assert [badge for _, badge, _, _ in found(stalled)] == ["ENGINE FROZEN"]


def test_every_fault_says_where_a_person_can_act():
    node = NodeStatus("n1", "worker", NOW, 3.0, leads=False, runs=("r1",))
    wait = (NOW - 9, RunWaiting(cause="host", reason="Web does not answer."))
    cases = [
        (replace(WELL, unwritten=2.0), "guide"),
        (replace(WELL, unanswered=2.0), "guide"),
        (replace(WELL, silent_worker=node), "run"),
        (replace(WELL, left_since=NOW), "run"),
        (replace(WELL, wait=wait), "run"),
        (with_engine("stalled"), "engines"),
        (replace(WELL, simulator=False), "engines"),
        (replace(WELL, unpolled=LATE_POLL + 1), "engines"),
    ]
    for conditions, place in cases:
        assert [fault.remedy_place for fault in find_faults(conditions)] == [place]
    (frozen,) = find_faults(with_engine("stalled"))
    assert frozen.remedy.endswith("If it stays frozen, restart it.")


def test_a_run_in_nobodys_hands_is_interrupted_since_its_newest_event():
    assert found(replace(WELL, left_since=NOW - 7)) == [("node", "INTERRUPTED", NOW - 7, True)]


def test_a_run_that_waits_says_so_unless_its_cause_is_named_already():
    waiting = replace(WELL, wait=(NOW - 9, RunWaiting(cause="host", reason="Web does not answer.")))
    assert found(waiting) == [("wait", "RUN WAITS", NOW - 9, True)]
    assert found(replace(with_engine("dead"), wait=waiting.wait)) == [("engine", "ENGINE DOWN", NOW - 3, True)]
