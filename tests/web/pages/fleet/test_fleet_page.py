"""The fleet page over a thousand hosts by three hundred rules, and what it sends when one cell changes."""

import random
from contextlib import asynccontextmanager

import msgspec
import pytest
from sqlalchemy import insert
from sqlmodel import Session

from app.events.kinds import AttemptStarted, ItemPassed, ItemStarted, RolloutHostBegun
from app.runs.order import Order
from app.runs.rollout.rollout_request import RolloutSpec, RolloutTerms, create_rollout_request
from app.runs.rollout.rollout_submission_and_commands import submit_rollout
from app.store.host_rule_states import StandingRow
from app.store.models import RunRow
from app.store.rollouts import open_rollout_journal
from app.web.pages.fleet.fleet_page import Fleet, FleetViewer
from app.web.pages.hosts_sharing_each_engine import Sharing
from app.web.stream.fold_cache import RolloutStateCache, RunStateCache
from tests.runs.doors import house
from tests.runs.test_approval_answer import QUEUED, RULE, UNTIL_IT_WAITS, asks

HOSTS, RULES = 1000, 300
"""And the built-in one, which is always there."""
MOST_BYTES = 300_000


def stands(number, letters, at):
    """A host of that number, as a run left it."""
    run = f"{number:08x}"
    cells = {f"V-{257000 + place}": f"{letter}{run}:{place}" for place, letter in enumerate(letters)}
    host, told = f"web-{number}", msgspec.json.encode(cells)
    return {"host": host, "skill": "stig", "run": run, "simulated": True, "at": at, "cells": told}


def ran(number):
    """Its run; that of one host could not go on."""
    state, reason = ("failed", "no route to it") if number == 7 else ("finished", "")
    said = {"state": state, "reason": reason, "mode": "auto", "skill": "stig", "lineup": "simulated", "note": ""}
    at = {"queued_at": 1000.0 + number, "started_at": 1000.0 + number}
    return {"id": f"{number:08x}", "host": f"web-{number}", "simulated": True} | said | at


@asynccontextmanager
async def fleet_of(hosts, folder):
    dice = random.Random(1)
    async with house(folder) as made:
        with Session(made.database) as session, session.begin():
            lines = [stands(number, dice.choices(".opuadws", k=RULES), 1000.0) for number in range(hosts)]
            session.execute(insert(StandingRow), lines)
            session.execute(insert(RunRow), [ran(number) for number in range(hosts)])
        yield made


@pytest.fixture
async def made(tmp_path):
    async with fleet_of(HOSTS, tmp_path) as made:
        yield made


@pytest.fixture
async def few(tmp_path):
    async with fleet_of(10, tmp_path) as made:
        yield made


async def test_a_thousand_hosts_fit_one_page_alarms_first(made):
    page = await made.http.get("/fleet")
    assert page.status_code == 200
    assert len(page.content) < MOST_BYTES
    assert f"{HOSTS + 1} of {HOSTS + 1} hosts, {RULES} rules" in page.text
    assert page.text.split('class="lines">')[1].startswith("web-7\t00000007\tfailed\t!\t")
    assert "no route to it" in page.text
    some = await made.http.get("/fleet", params={"q": "web-99?", "sort": "name"})
    assert f"10 of {HOSTS + 1} hosts" in some.text
    table = await made.http.get("/fleet", params={"table": "1", "page": "10", "sort": "name"})
    assert table.text.count("/fleet/hosts/web-") == 100


async def test_when_a_cell_changes_that_host_alone_is_sent(few):
    fleet = Fleet(few, RunStateCache(few.store), RolloutStateCache(), Sharing(few.store))
    live = fleet.open_stream("stig", "")
    FleetViewer(live, 0).render_all()
    assert b"event: fleet" not in live([])
    with Session(few.database) as session, session.begin():
        session.merge(StandingRow(**stands(3, "p" * RULES, 2000.0)))
    sent = live([])
    assert sent.count(b"event: fleet") == 1
    assert b"web-3\\t" in sent
    assert b"web-4\\t" not in sent
    assert b"event: fleet" not in FleetViewer(live, fleet.get_last_read_or_empty_board("stig").version).render_all()


async def test_a_rule_that_only_one_host_was_looked_at_for_is_a_column_for_all(few):
    board = few.application.state.fleet.get_last_read_or_empty_board("stig")
    with Session(few.database) as session, session.begin():
        board.read_changes(session, few.settings.hosts_folder)
        before = board.lines["web-4"].letters
        more = stands(3, "p" * RULES, 2000.0)
        more["cells"] = msgspec.json.encode({"V-100000": "o1:1"} | msgspec.json.decode(more["cells"]))
        session.merge(StandingRow(**more))
        session.flush()
        board.read_changes(session, few.settings.hosts_folder)
    at = board.columns.index("V-100000")
    assert board.lines["web-3"].letters[at] == "o"
    letters = board.lines["web-4"].letters
    assert letters[:at] + letters[at + 1 :] == before
    assert letters[at] == "."


async def test_where_one_host_changed_nothing_is_drawn_anew_of_the_others(made):
    board = made.application.state.fleet.get_last_read_or_empty_board("stig")
    with Session(made.database) as session, session.begin():
        board.read_changes(session, made.settings.hosts_folder)
        drawn = {host: line.wire_text for host, line in board.lines.items()}
        session.merge(StandingRow(**stands(3, "p" * RULES, 2000.0)))
        session.flush()
        board.read_changes(session, made.settings.hosts_folder)
    assert [host for host, line in board.lines.items() if vars(line).get("wire_text") is not drawn[host]] == ["web-3"]


async def test_a_rollout_shows_its_own_runs_alone_and_counts_their_findings(tmp_path):
    async with house(tmp_path) as made:
        order = Order(rules=(RULE,), pace=0, by="ada")
        wanted = RolloutSpec(order=order, hosts=("fixture",), words="all", terms=RolloutTerms())
        submit_rollout(made.database, create_rollout_request(wanted, made.lineup, made.settings.hosts_folder), "o1")
        with open_rollout_journal(made.database, "o1") as chain:
            chain.append(RolloutHostBegun(host="fixture", of="r1", wave=1))
        made.append("r1", QUEUED, *UNTIL_IT_WAITS, ItemPassed(rule=RULE, attempts=1))
        made.append("r2", QUEUED, *UNTIL_IT_WAITS, asks())
        page, whole = (await made.http.get("/fleet/o1")).text, (await made.http.get("/fleet")).text
        assert f"waits for your approval of {RULE}" in whole
        assert "waits for your approval" not in page, "that run is not one of the rollout's"
        assert "of <b>1</b> finding: <b>1</b> passed, <b>0</b> escalated" in page
        assert "<b>1</b> running, 0 queued" in page.replace("<b>0</b>", "0")
        made.append("r1", ItemStarted(rule=RULE, title="", category="II"))
        made.append("r1", AttemptStarted(rule=RULE, attempt=1, lessons=()), asks())
        assert f"waits for your approval of {RULE}" in (await made.http.get("/fleet/o1")).text
