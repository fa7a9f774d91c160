"""Data folders of every earlier version, opened by this one: nothing is lost, nothing breaks, and work goes on."""

import json
import signal
import subprocess
import sys
import time

import httpx
import pytest
from sqlmodel import Session, select

from app.cli.verify import HOLDS, verify_pack, verify_run
from app.events.kinds import ApprovalExpired, ApprovalGiven, ApprovalRequested, TurnFinished
from app.events.record import AUDIT, check_chain_and_get_head, parse_line
from app.evidence.notary import KEYS
from app.evidence.run_shrinking import read_evidence, store_evidence_and_delete_deltas_unless_shrunk
from app.evidence.signing_key import find_key
from app.evidence.verify import unpack_zip_packed_by_temper
from app.loop.state import fold_events
from app.store import issued_credentials, people, schedules
from app.store.db import HEAD, open_and_migrate_database, read_revision
from app.store.events import EventStore
from app.store.models import RunRow
from app.store.sqlite_to_postgresql_copy import copy_sqlite_rows_and_verify_chains
from app.targets.host_registry import open_target
from tests.evidence.played import KEY
from tests.postgres import new_database
from tests.served import GLANCE, served
from tests.upgrade.__main__ import unpacked
from tests.upgrade.conftest import found

PATIENCE = 100.0
OPENED = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import Engine, event
from app.store.db import open_and_migrate_database

left = int(sys.argv[2])

@event.listens_for(Engine, "after_cursor_execute")
def count(connection, cursor, statement, *_):
    global left
    left -= statement.lstrip().startswith(("CREATE", "ALTER", "INSERT", "UPDATE"))
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)

open_and_migrate_database(Path(sys.argv[1]) / "temper.sqlite")
"""
PAGES = (
    *("/", "/runs", "/ops", "/hosts", "/fleet", "/lineup", "/people", "/audit"),
    *("/waivers", "/parameters", "/machine", "/metrics", "/readyz"),
)
ASKED = (
    "runs",
    "hosts",
    "lessons",
    "approvals",
    "schedules",
    "people",
    "tokens",
    "audit",
    "probes",
    "webhooks",
    "waivers",
    "parameters",
    "tailorings",
    "rules",
    "rollouts",
    "groups",
)
OF_A_RUN = ("", "/events", "/items", "/energy")
PAPERS = ("checklist.ckl", "checklist.cklb", "results.arf.xml", "poam.csv", "poam.json", "report.html", "evidence.zip")


def test_it_is_brought_up_and_every_line_is_as_it_was(older, database):
    assert read_revision(database) == HEAD
    for run, lines in older.lines.items():
        assert EventStore(database).read_lines(run) == lines
        check_chain_and_get_head(lines)
    with Session(database) as session:
        known = {one.name for one in people.list_people(session)}
        assert known == ({"ada"} if older.name >= "0005" else set())
        assert len(schedules.list_schedules(session)) == (older.name >= "0006")
        makers = [
            one.made_by for one in issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ("token",))
        ]
        assert makers == ["?"] * (older.name in ("0005", "0022"))


@pytest.mark.parametrize("writes", [1, 3, 9, 20])
def test_killed_while_it_is_brought_up_the_next_start_does_it(tmp_path, writes):
    older = found("0001", unpacked("0001", tmp_path))
    done = subprocess.run([sys.executable, "-c", OPENED, older.data, str(writes)], check=False)
    assert done.returncode == -signal.SIGKILL
    opened = open_and_migrate_database(older.data / "temper.sqlite")
    assert read_revision(opened) == HEAD
    assert EventStore(opened).read_lines(older.cut) == older.lines[older.cut]
    opened.dispose()


def test_its_runs_and_their_evidence_hold(older, database, tmp_path, capsys):
    for run, lines in older.lines.items():
        assert verify_run(older.settings, run, lines[-1][2]) == HOLDS
    for run in older.ended:
        archive = read_evidence(database, run, KEY)
        (tmp_path / "evidence.zip").write_bytes(archive)
        assert verify_pack(tmp_path / "evidence.zip", older.lines[run][-1][2], KEY.public) == HOLDS
        assert "its documents are identical to those that this Temper makes" in capsys.readouterr().out
        assert b"SIMULATED: the engines and the host" in unpack_zip_packed_by_temper(archive)["report.html"]


def test_its_runs_shrink_to_their_evidence(older, database):
    own = find_key(older.data / KEYS) or KEY
    for run in older.ended:
        archive = read_evidence(database, run, own)
        assert store_evidence_and_delete_deltas_unless_shrunk(database, run, own, "ada", time.time())
        assert read_evidence(database, run, own) == archive
        assert verify_run(older.settings, run, older.lines[run][-1][2]) == HOLDS


def test_its_runs_are_shown_and_the_one_that_was_cut_off_goes_on_to_its_end(older):
    with (
        served(older.data, "--speed", "0") as server,
        httpx.Client(base_url=server.url, headers={"origin": server.url}, timeout=30) as http,
    ):
        for address in addresses(older):
            answer = http.get(address)
            assert answer.status_code == 200, (address, answer.text[:500])
        seen_through(http, older.cut)
    ended_as_it_should(older, open_and_migrate_database(older.data / "temper.sqlite"))


def test_a_server_takes_it_over_and_the_run_that_was_cut_off_goes_on_there(older, database, server):
    address = new_database(server)
    into = open_and_migrate_database(address)
    copied = copy_sqlite_rows_and_verify_chains(database, into)
    assert copied.chains == len(older.lines) + bool(EventStore(database).read_lines(AUDIT))
    environment = {"TEMPER_DATABASE_URL": address, "no_proxy": "127.0.0.1"}
    with (
        served(older.data, "--speed", "0", environment=environment) as node,
        httpx.Client(base_url=node.url, headers={"origin": node.url}, timeout=30) as http,
    ):
        seen_through(http, older.cut)
    ended_as_it_should(older, into)


def addresses(older):
    yield from PAGES
    yield from (f"/api/v1/{what}" for what in ASKED)
    yield f"/compare?left={older.ended[0]}&right={older.ended[1]}"
    for run, lines in older.lines.items():
        rules = json.loads(lines[0][1])["rules"]
        yield from (f"/runs/{run}", f"/runs/{run}?at={len(lines) // 2}", f"/runs/{run}/energy")
        yield from (f"/runs/{run}/items/{rule}" for rule in rules)
        yield from (f"/api/v1/runs/{run}{what}" for what in OF_A_RUN)
    for run in older.ended:
        yield from (f"/api/v1/runs/{run}/{paper}" for paper in PAPERS)
        yield f"/api/v1/runs/{run}/stream"


def seen_through(http, run):
    """What it asks a person is approved."""
    late = time.monotonic() + PATIENCE
    while http.get(f"/api/v1/runs/{run}").json()["state"] in ("queued", "running"):
        assert time.monotonic() < late, http.get(f"/api/v1/runs/{run}/events").text[-3000:]
        for one in http.get("/api/v1/approvals").json()["approvals"]:
            assert one["diff"], "who is asked sees what for"
            http.post(f"/api/v1/approvals/{one['id']}", json={"decision": "approve"})
        time.sleep(GLANCE)


def asked_too_long_ago(events, now):
    """The rules for which a person was asked and did not answer until it was too late, which is so from some day on."""
    answered = {one.event.approval for one in events if isinstance(one.event, ApprovalGiven | ApprovalExpired)}
    asked = [one.event for one in events if isinstance(one.event, ApprovalRequested)]
    return {one.rule for one in asked if one.approval not in answered and one.expires < now}


def ended_as_it_should(older, database):
    with Session(database) as session:
        row = session.exec(select(RunRow).where(RunRow.id == older.cut)).one()
    assert row.state == "finished", row.reason
    lines, before = EventStore(database).read_lines(older.cut), older.lines[older.cut]
    assert lines[: len(before)] == before
    check_chain_and_get_head(lines)
    events = [parse_line(line, digest) for _, line, digest in lines]
    assert row.whose == events[0].event.by
    assert row.tokens_in == sum(one.event.prompt_tokens for one in events if isinstance(one.event, TurnFinished)) > 0
    state, late = fold_events(events), asked_too_long_ago(events[: len(before)], events[len(before)].at)
    ends = {rule: item.status for rule, item in state.items.items()}
    assert ends == {rule: "deferred" if rule in late else "passed" for rule in ends}
    target = open_target("fixture", older.settings.hosts_folder)
    assert target.list_pending() == []
    assert target.compute_digest() == state.ended.tree
    assert unpack_zip_packed_by_temper(read_evidence(database, older.cut, KEY))
    database.dispose()
