"""Two workers on one database: what one leaves, however it ends, the other brings to the end that it would have had."""

import os
import signal
import subprocess
import time
from collections import Counter

import httpx
import pytest
from sqlalchemy import text

from app.events.kinds import ActionApplied, ActionApplying, ActionRolledBack, RunResumed
from app.targets.host_registry import open_target
from tests.forkserver import Temper
from tests.nodes.conftest import RULES
from tests.postgres import empty_database

HOSTS = ["fixture", *(f"fixture-{number}" for number in range(2, 7))]


def ends_as(shared, undisturbed):
    for row in shared.rows():
        state = shared.state(row.id)
        assert row.state == "finished", row.reason
        ended = {rule: item.status for rule, item in state.items.items()}
        assert ended == {rule: status for rule, (status, _) in undisturbed.outcomes.items()}
        target = open_target(row.host, shared.data / "hosts")
        assert target.compute_digest() == undisturbed.tree
        assert target.list_pending() == []


def once(shared, run):
    """Each announced change came to one end, and no journal was written twice."""
    events = [one.event for one in shared.store.read_events_without_deltas(run)]
    begun = Counter(event.journal for event in events if isinstance(event, ActionApplying))
    applied = Counter(event.journal for event in events if isinstance(event, ActionApplied))
    undone = Counter(event.journal for event in events if isinstance(event, ActionRolledBack))
    assert max(begun.values()) == max(applied.values()) == 1
    assert max(undone.values(), default=1) == 1
    assert set(applied) | set(undone) <= set(begun)


def test_killed_in_the_middle_of_six_runs_and_all_six_end_as_undisturbed_ones_do(shared, undisturbed):
    with shared.node(speed=10) as one, shared.node(speed=10) as other:
        shared.settle()
        runs = [shared.ask(host, RULES) for host in HOSTS]
        shared.until(lambda: all(shared.owner(run) for run in runs))
        taken = Counter(shared.owner(run) for run in runs)
        assert set(taken) == {one.node, other.node}
        assert max(taken.values()) <= len(HOSTS) / 2 + 1
        shared.until(lambda: all(shared.store.read_newest_seq(run) > 30 for run in runs))
        left = [row.id for row in shared.rows() if shared.owner(row.id) == one.node and not row.ended_at]
        assert left
        killed_at = time.time()
        one.kill()
        shared.until(shared.ended)
        for run in left:
            assert shared.owner(run) == other.node
            [went_on] = [
                event.at
                for event in shared.store.read_events_without_deltas(run)
                if isinstance(event.event, RunResumed)
            ]
            assert went_on - killed_at < 10
            assert f"run taken over  run={run}" in (log := other.log.read_text())
            assert f"from={one.node} after_s=" in log
        assert f"node given up  node={one.node}" in log
    assert len(shared.rows()) == len(HOSTS)
    ends_as(shared, undisturbed)
    for row in shared.rows():
        once(shared, row.id)


def changes(store, run):
    """It may be anywhere in a change: who takes over waits for the host's lock, which a frozen one keeps."""
    return any(store.read_events(run, kinds=["action.applying"]))


def thinks(store, run):
    """Over a change that stands open: nothing is in the way of who takes over."""
    return any(one.event.purpose == "review" for one in store.read_events(run, kinds=["turn.started"]))


@pytest.mark.parametrize("moment", [changes, thinks])
def test_a_frozen_worker_is_given_up_and_does_no_harm_when_it_thaws(shared, undisturbed, moment):
    with shared.node(speed=6) as one:
        shared.ask("fixture", RULES)
        run = shared.rows()[0].id
        shared.until(lambda: moment(shared.store, run))
        one.send(signal.SIGSTOP)
        frozen_at = shared.store.read_newest_seq(run)
        with shared.node(speed=20) as other:
            shared.until(lambda: shared.owner(run) == other.node)
            if moment is thinks:
                shared.until(lambda: shared.store.read_newest_seq(run) > frozen_at)
            one.send(signal.SIGCONT)
            shared.until(lambda: "gave" in one.log.read_text())
            shared.until(shared.ended)
            assert shared.owner(run) == other.node
            shared.ask("fixture", RULES)  # and it is of use again
            shared.until(shared.ended)
        assert "Traceback" not in one.log.read_text()
    ends_as(shared, undisturbed)
    for row in shared.rows():
        once(shared, row.id)


def test_a_run_whose_end_the_queue_was_not_told_keeps_no_other_from_its_host(shared):
    with shared.node() as one:
        run = shared.ask("fixture", "V-257985")
        shared.until(shared.ended)
        one.kill()
    with shared.database.begin() as connection:  # as it stands when the kill comes right after the last event
        untold = "update dbos.workflow_status set status = 'PENDING', completed_at = null where workflow_uuid = :run"
        connection.execute(text(untold), {"run": run})
    with shared.node():
        shared.ask("fixture", "V-257985")
        shared.until(shared.ended, patience=30)


def test_one_that_is_ended_in_order_leaves_its_runs_to_the_other_at_once(shared, undisturbed):
    with shared.node(speed=20) as one:
        shared.ask("fixture", RULES)
        run = shared.rows()[0].id
        shared.until(lambda: shared.store.read_newest_seq(run) > 30)
        with shared.node(speed=20) as other:
            one.send(signal.SIGTERM)
            assert one.child.wait(timeout=60) == 0
            assert one.node not in shared.living(), "nobody has to wait until it has been silent for long enough"
            shared.until(lambda: shared.owner(run) == other.node)
            shared.until(shared.ended)
    ends_as(shared, undisturbed)


def test_nodes_that_are_the_first_on_a_database_at_the_same_moment_all_come_up(server, tmp_path):
    address = empty_database(server)
    environment = {**os.environ, "TEMPER_DATABASE_URL": address}
    line = ["worker", "--data", tmp_path / "data"]
    started = [Temper(*line, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
    try:
        assert [" as worker " in one.stdout.readline() for one in started] == [True] * 3
    finally:
        for one in started:
            one.terminate()
        for one in started:
            one.communicate(timeout=30)


def test_any_node_serves_the_page_and_the_stream_of_a_run_that_another_works_on(shared):
    with shared.node(speed=10) as worker:
        run = shared.ask("fixture", RULES)
        shared.until(lambda: shared.owner(run) == worker.node)
        with shared.node("--port", "0", speed=10, command="serve") as serving:
            url = serving.said[0].split()[-1]
            with httpx.Client(base_url=url, timeout=60) as client:
                assert run in client.get(f"/runs/{run}").text
                with client.stream("GET", f"/api/v1/runs/{run}/stream") as answer:
                    ids = (line for line in answer.iter_lines() if line.startswith("id:"))
                    seen = [int(line.removeprefix("id:")) for line in ids]
                nodes = client.get("/api/v1/nodes").json()["nodes"]
                assert "last seen" in client.get("/ops").text
            assert {node["kind"]: node["answers"] for node in nodes} == {"worker": False, "serve": True}
            assert sum(node["leads"] for node in nodes) == 1
        assert shared.owner(run) == worker.node
    last = len(shared.store.read_lines(run))
    assert seen == [*range(1, last + 1), last]  # its end repeats the last id
