"""Six built-in hosts by one wish in a process of its own: killed with -9 in the middle, and sabotaged."""

import json
import os
import signal
import subprocess
from collections import Counter

from sqlmodel import Session, select

from app.events.record import check_chain_and_get_head, parse_line
from app.runs.rollout.rollout_state import fold_rollout
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from app.store.rollouts import RolloutRow
from app.targets.host_registry import open_target
from tests.forkserver import Temper

HOSTS = ["fixture", *(f"fixture-{number}" for number in range(2, 7))]
LAST_SECONDS = 240
WORDS = ("--rules", "V-257820", "--speed", "0", "--waves", "1,rest", "--json")


def begun(data, *words, hosts=HOSTS):
    line = ["run", "--data", data, "--hosts", ",".join(hosts), *WORDS, *words]
    return Temper(*line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def upto(child, kind, times):
    """Until that many lines of that kind were said."""
    for line in child.stdout:
        times -= json.loads(line)["kind"] == kind
        if times == 0:
            return
    raise AssertionError(child.stderr.read())


def looked_at(data):
    database = open_and_migrate_database(data / "temper.sqlite")
    store = EventStore(database)
    with Session(database) as session:
        rollouts, runs = session.exec(select(RolloutRow)).all(), session.exec(select(RunRow)).all()
    (rollout,) = rollouts
    lines = store.read_lines(rollout.id)
    check_chain_and_get_head(lines, rollout.id)
    for run in runs:
        check_chain_and_get_head(store.read_lines(run.id), run.id)
    database.dispose()
    return fold_rollout(parse_line(line, digest) for _, line, digest in lines), runs


def test_killed_in_the_middle_and_started_again_each_host_is_hardened_once(tmp_path):
    child = begun(tmp_path, "--at-once", "2")
    upto(child, "rollout.host_ended", 2)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    child = begun(tmp_path, "--at-once", "2")
    out, errors = child.communicate(timeout=LAST_SECONDS)
    assert child.returncode == 0, errors
    assert json.loads(out.splitlines()[-1])["kind"] == "rollout.ended"
    state, runs = looked_at(tmp_path)
    assert state.status == "finished"
    assert Counter(run.host for run in runs) == dict.fromkeys(HOSTS, 1)
    assert {run.state for run in runs} == {"finished"}
    assert {open_target(host, tmp_path / "hosts").compute_digest() for host in HOSTS} == {
        open_target("fixture", tmp_path / "hosts").compute_digest()
    }
    assert all(not open_target(host, tmp_path / "hosts").list_pending() for host in HOSTS)


def test_on_a_sabotaged_host_the_rule_holds_the_rest_until_a_person_ends_it(tmp_path):
    (tmp_path / "hosts/fixture-3/change.lock").mkdir(parents=True)  # nothing can be changed on it
    child = begun(tmp_path, "--at-once", "1")
    try:
        upto(child, "rollout.paused", 1)
        state, runs = looked_at(tmp_path)
        assert state.is_paused_by_rule
        assert state.reason == "1 host is harmed or could not be finished: fixture-3"
        assert [run.host for run in runs] == ["fixture", "fixture-2", "fixture-3"]
        said = Temper("rollout", "stop", state.rollout, "--data", tmp_path, stdout=subprocess.PIPE, text=True)
        assert said.communicate(timeout=60)[0].startswith(f"rollout {state.rollout} is stopping")
        child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 1
    state, runs = looked_at(tmp_path)
    assert state.status == "stopped"
    assert len(runs) == 3
