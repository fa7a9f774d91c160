"""What held on one host and is known to the next: read off the log by the transaction that appends to it."""

import json
import time

import msgspec
import pytest

from app.events.event_field_types import FileChange
from app.events.kinds import AttemptFailed, FixProven, ItemEscalated, ItemPassed
from app.events.record import build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.prior_knowledge import StoredRunHistory
from tests.forkserver import temper
from tests.loop.playing import FIX as ELSEWHERE
from tests.loop.playing import pack, request, rule

CHANGES = (FileChange("/etc/x", None, "a"),)
FIX = msgspec.structs.replace(
    ELSEWHERE, id="r1.V-1.2", rule="V-1", host="web1", run="r1", attempt=2, played=False, changes=CHANGES
)


class Runs:
    def __init__(self, database):
        self.database, self.store, self.seqs = database, EventStore(database), {}

    def put(self, run, *events):
        for event in events:
            self.seqs[run] = self.seqs.get(run, 0) + 1
            self.store.append([build_recorded_event(run, self.seqs[run], time.time(), event, "x")])

    def begun(self, run, host, *, simulated=False):
        asked = request(pack([rule("V-1")]))
        self.put(run, msgspec.structs.replace(asked, host=host, simulated=simulated))
        return StoredRunHistory(self.database, self.store, run)


@pytest.fixture
def runs(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield Runs(database)
    database.dispose()


def test_a_fix_is_known_to_other_hosts_for_the_same_files_alone(runs):
    own = runs.begun("r1", "web1")
    runs.put("r1", FixProven(rule="V-1", attempt=2, fix=FIX))
    other = runs.begun("r2", "web2")
    assert other.list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == [FIX]
    assert other.list_fixes_proven_elsewhere("V-1", "t", is_host_simulated=False) == []
    assert other.list_fixes_proven_elsewhere("V-2", "s", is_host_simulated=False) == []
    assert own.list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == []


@pytest.mark.parametrize(("cause", "again"), [("scanner", False), ("disapproved", False), ("interrupted", True)])
def test_what_failed_on_a_host_is_not_offered_there_again(runs, cause, again):
    runs.begun("r1", "web1")
    runs.put("r1", FixProven(rule="V-1", attempt=2, fix=FIX))
    runs.begun("r2", "web2")
    runs.put("r2", AttemptFailed(rule="V-1", attempt=1, cause=cause, reason="no", replayed=FIX.id))
    assert bool(runs.begun("r3", "web2").list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False)) == again
    assert runs.begun("r4", "web3").list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == [FIX]


def test_what_held_most_often_comes_first(runs):
    runs.begun("r1", "web1")
    younger = msgspec.structs.replace(FIX, id="r1.V-1.3")
    runs.put("r1", FixProven(rule="V-1", attempt=2, fix=FIX), FixProven(rule="V-1", attempt=3, fix=younger))
    assert runs.begun("r2", "web2").list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == [younger, FIX]
    runs.put("r2", ItemPassed(rule="V-1", attempts=1, replayed=FIX.id))
    assert runs.begun("r3", "web3").list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == [FIX, younger]


def test_what_was_played_proves_nothing_for_what_is_real(runs):
    runs.begun("r1", "fixture", simulated=True)
    runs.put("r1", FixProven(rule="V-1", attempt=2, fix=msgspec.structs.replace(FIX, played=True)))
    assert runs.begun("r2", "web2", simulated=True).list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=True)
    assert not runs.begun("r3", "web3", simulated=True).list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False)
    assert not runs.begun("r4", "web4").list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=True)


def test_the_second_of_two_equal_hosts_is_mended_without_a_plan_and_its_record_says_from_where(tmp_path):
    def ran(host, *words):
        told = ("run", "--data", tmp_path, "--speed", "0", "--json", "--host", host, "--rules", "V-258069", *words)
        return [json.loads(line) for line in temper(*told).stdout.splitlines()]

    first = ran("fixture")
    fix = next(event["fix"] for event in first if event["kind"] == "fix.proven")
    second = ran("fixture-2")
    run = second[0]["run"]
    assert [event["purpose"] for event in second if event["kind"] == "turn.started"] == ["review", "triage"]
    assert next(event for event in second if event["kind"] == "attempt.started")["offered"] == fix
    assert temper("verify", run, "--data", tmp_path).returncode == 0
    pack_file = tmp_path / "evidence.zip"
    assert temper("evidence", run, "--data", tmp_path, "--out", pack_file).returncode == 0
    key = temper("key", "--data", tmp_path).stdout.split()[0]
    assert temper("verify", pack_file, "--key", key, "--data", tmp_path).returncode == 0
    report = temper("evidence", run, "--data", tmp_path, "--format", "report", "--out", tmp_path / "r.html")
    assert report.returncode == 0
    assert f"replayed from run {first[0]['run']}, attempt 1, on fixture" in (tmp_path / "r.html").read_text()
    third = ran("fixture-3", "--no-replay")
    assert "plan" in [event["purpose"] for event in third if event["kind"] == "turn.started"]


def test_what_did_not_survive_a_reboot_is_offered_no_more(runs):
    runs.begun("r1", "web1")
    runs.put("r1", FixProven(rule="V-1", attempt=2, fix=FIX))
    other = runs.begun("r2", "web2")
    runs.put("r2", ItemEscalated(rule="V-1", reason="it does not hold", reopened=True, replayed=FIX.id))
    assert other.list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == []
    third = runs.begun("r3", "web3")
    assert third.list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == [FIX]
    runs.put("r1", ItemEscalated(rule="V-1", reason="it does not hold", reopened=True))
    assert third.list_fixes_proven_elsewhere("V-1", "s", is_host_simulated=False) == []
