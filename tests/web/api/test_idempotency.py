"""One key, one run: while it is being answered, after a crash in between, and for another body."""

import time

import msgspec
import pytest
from sqlmodel import Session

from app.people.rights import WHO, Person
from app.store.db import open_and_migrate_database
from app.store.models import RunRow
from app.store.run_queries import KEEP_KEY_SECONDS, get_or_create_idempotency_row
from app.targets import host_registry
from app.targets.ssh.endpoint import parse_endpoint
from app.web.api.idempotency import IdempotencyKeys
from app.web.api.problem import Problem
from tests.runs.doors import house
from tests.runs.test_approval_answer import QUEUED


@pytest.fixture
def database(tmp_path):
    opened = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield opened
    opened.dispose()


async def test_a_request_that_is_being_answered_is_not_answered_twice(database):
    keys = IdempotencyKeys(database)
    async with keys.mark_key_in_flight("k"):
        with pytest.raises(Problem, match="still in progress") as refused:
            async with keys.mark_key_in_flight("k"):
                pass
        async with keys.mark_key_in_flight("other"):
            pass
    assert refused.value.body.status == 409
    async with keys.mark_key_in_flight("k"):
        pass


def test_a_crash_between_key_and_run_leads_to_the_same_run(database):
    assert IdempotencyKeys(database).store_key_or_find_its_id("k", "body", "aaaa") == ("aaaa", False)
    assert IdempotencyKeys(database).store_key_or_find_its_id("k", "body", "bbbb") == ("aaaa", False)
    with Session(database) as session, session.begin():
        words = {"host": "fixture", "mode": "auto", "skill": "stig", "lineup": "simulated", "note": ""}
        session.add(RunRow(id="aaaa", state="queued", simulated=True, queued_at=1.0, **words))
    assert IdempotencyKeys(database).store_key_or_find_its_id("k", "body", "cccc") == ("aaaa", True)
    with pytest.raises(Problem, match="another body"):
        IdempotencyKeys(database).store_key_or_find_its_id("k", "other body", "dddd")


def test_a_key_is_forgotten_after_a_day(database):
    now = time.time()
    with Session(database) as session, session.begin():
        get_or_create_idempotency_row(session, "k", "digest", "aaaa", now - KEEP_KEY_SECONDS - 1)
    with Session(database) as session, session.begin():
        assert get_or_create_idempotency_row(session, "k", "other", "bbbb", now).run == "bbbb"


def test_two_people_may_think_of_the_same_key():
    keys = {IdempotencyKeys.scope_to_person("k")}
    for person in (Person("ann", "operator", "token"), Person("bob", "operator", "token")):
        before = WHO.set(person)
        keys |= {IdempotencyKeys.scope_to_person("k"), IdempotencyKeys.scope_to_person("k")}
        WHO.reset(before)
    assert len(keys) == 3


async def test_a_repeated_request_says_that_it_started_nothing_unless_a_crash_lost_the_run(tmp_path):
    async with house(tmp_path) as made:
        order = {"host": "fixture", "rules": ["V-257984"], "mode": "scan"}

        async def ask():
            return await made.http.post("/api/v1/runs", json=order, headers={"idempotency-key": "k"})

        first, after_crash = await ask(), await ask()  # the run is in no log yet
        made.append(first.json()["id"], QUEUED)
        answers = [first, after_crash, await ask()]
        assert len(made.submitted) == 2
    assert len({one.json()["id"] for one in answers}) == 1
    assert [one.headers.get("idempotency-replayed") for one in answers] == [None, None, "true"]


@pytest.mark.parametrize(("path", "words"), [("runs", {"host": "web"}), ("rollouts", {"hosts": ["web", "fixture"]})])
async def test_a_repeated_request_gets_its_answer_also_after_its_host_was_removed(tmp_path, path, words):
    async with house(tmp_path / "data") as made:
        hosts, end = made.settings.hosts_folder, parse_endpoint("root@web", "agent")
        host_registry.register_host(hosts, "web", end, "web ssh-ed25519 AAAA\n", "SHA256:x")
        order = {"headers": {"idempotency-key": "k"}, "json": {"rules": ["V-257985"], "mode": "scan", **words}}
        first = await made.http.post(f"/api/v1/{path}", **order)
        assert first.status_code == 202, first.text
        if path == "runs":
            made.append(first.json()["id"], msgspec.structs.replace(QUEUED, host="web"))
        host_registry.remove_host(hosts, "web")
        again = await made.http.post(f"/api/v1/{path}", **order)
        assert (again.status_code, again.json()) == (202, first.json())
        assert (again.headers["idempotency-replayed"], again.headers["location"]) == ("true", first.headers["location"])
        other = await made.http.post(f"/api/v1/{path}", json=order["json"])
        assert other.json()["type"].endswith("unknown-host")
        assert len(made.submitted) == (path == "runs")
