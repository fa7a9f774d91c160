from app.loop.state import RunState
from app.machine.measuring.background_probe_task import explain_run_blocking_probe


def test_a_run_at_work_is_in_the_way():
    assert "r1" in explain_run_blocking_probe(
        [RunState(run="r0", status="paused"), RunState(run="r1", status="running")]
    )


def test_one_that_is_paused_queued_or_waits_for_a_person_is_not():
    waiting = RunState(run="r3", status="running", idle_since=1.0)
    assert (
        explain_run_blocking_probe([RunState(run="r0", status="paused"), RunState(run="r2", status="queued"), waiting])
        == ""
    )
    assert explain_run_blocking_probe([]) == ""
