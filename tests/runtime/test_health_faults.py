"""What counts as broken, in what words, and what stops work."""

from dataclasses import replace

import pytest

from app.events.kinds import EngineState, RunWaiting
from app.runtime.free_disk_space_meter import DiskSpace
from app.runtime.health_faults import (
    LATE_ANSWER,
    LATE_POLL,
    LATE_WRITE,
    Conditions,
    find_faults,
    list_unreadiness_reasons,
)
from app.runtime.stalled_run_detection import RunProgress
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
        ("database", "NO DATABASE", NOW - 4.0, True),
        ("log", "LOG STALLED", NOW - LATE_WRITE - 1, True),
    ]
    assert found(replace(WELL, unwritten=LATE_WRITE)) == []
    assert found(replace(broken, broken_log=True))[1] == ("log", "LOG STOPPED", None, True)


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
        (replace(WELL, runs=[run()]), "run"),
        (replace(WELL, disk=DiskSpace(1, 100, NOW)), "guide"),
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


def run(name="r1", **more):
    return RunProgress(name, "web", "running", NOW - 500, **{"step": "verdict", **more})


def test_a_run_that_makes_no_progress_stops_its_page_and_not_the_work_of_others():
    hung, fine = run(), replace(run("r2"), at=NOW)
    assert found(replace(WELL, runs=[hung])) == [("progress", "NO PROGRESS", NOW - 500, True)]
    assert found(replace(WELL, runs=[hung, fine])) == [("progress", "NO PROGRESS", NOW - 500, False)]
    (fault,) = find_faults(replace(WELL, runs=[hung]))
    assert fault.runs == ("r1",)
    assert fault.remedy.startswith("Pause or stop it.")


def test_while_nothing_can_be_logged_no_run_is_blamed_for_its_silence():
    assert [badge for _, badge, _, _ in found(replace(WELL, runs=[run()], unwritten=9.0))] == ["LOG STALLED"]
    assert [badge for _, badge, _, _ in found(replace(WELL, runs=[run()], unanswered=9.0))] == ["NO DATABASE"]


def test_a_run_that_nothing_takes_up_is_told_unless_its_page_calls_it_interrupted_already():
    left = run(is_held=False)
    assert found(replace(WELL, runs=[left])) == [("queue", "NOT TAKEN UP", NOW - 500, True)]
    assert found(replace(WELL, runs=[left], left_since=NOW - 500)) == [("node", "INTERRUPTED", NOW - 500, True)]


def test_runs_that_wait_are_told_one_by_one_or_counted_together():
    waiting = [run(f"r{n}", waiting_for="Web does not answer.", may_wait=True) for n in range(5)]
    (one,) = find_faults(replace(WELL, runs=waiting[:1]))
    assert (one.badge, one.text) == ("RUN WAITS", "Run r0 on web waits: Web does not answer.")
    (all_of_them,) = find_faults(replace(WELL, runs=waiting))
    assert all_of_them.text == "5 runs wait for what is broken: r0, r1, r2 and 2 more."
    assert all_of_them.runs == ("r0", "r1", "r2", "r3", "r4")
    own = replace(WELL, runs=waiting[:1], wait=(NOW - 9, RunWaiting(cause="host", reason="Web does not answer.")))
    assert [fault.text for fault in find_faults(own)] == ["Web does not answer."], "its own page says it once"


def test_a_disk_that_is_nearly_full_is_told_before_a_write_fails():
    assert found(replace(WELL, disk=DiskSpace(5 * 1024**3, 1024**4))) == []
    low = replace(WELL, disk=DiskSpace(512 * 1024**2, 1024**4, low_since=NOW - 60))
    assert found(low) == [("disk", "DISK LOW", NOW - 60, False)]
    (fault,) = find_faults(low)
    assert fault.text == "Only 0.5 GiB of the data folder's disk is free."


def test_readiness_is_judged_by_the_same_faults_and_by_engines_that_do_not_serve_yet():
    assert list_unreadiness_reasons(WELL) == list_unreadiness_reasons(with_engine("degraded")) == []
    assert list_unreadiness_reasons(with_engine("dead")) == [
        (
            "Engine big is dead: why. "
            "The turn waits and is asked again when the engine answers. If it does not come back, start it again."
        )
    ]
    assert list_unreadiness_reasons(with_engine("dead", seated=())) == []
    assert list_unreadiness_reasons(with_engine("loading")) == ["Engine big is loading."]
    assert list_unreadiness_reasons(replace(WELL, seated=("new",))) == ["Engine new is not looked at yet."]
    assert list_unreadiness_reasons(replace(with_engine("dead"), simulator=False)) == [
        "The simulated engines are stopped. Start the engines: the turn is then asked again."
    ]
    assert list_unreadiness_reasons(replace(WELL, unwritten=9.0)) == [
        (
            "Temper cannot write its log: check for a full disk or an unreachable database. "
            "Hosts are not changed meanwhile. Runs resume by themselves when the log can be written."
        )
    ]
    assert list_unreadiness_reasons(replace(WELL, runs=[run()], disk=DiskSpace(1, 100, NOW))) == [], (
        "a node that can work"
    )
