"""Who comes, from where, by which name; and what goes on record of it."""

import asyncio

import msgspec
import pytest
from sqlalchemy import text
from sqlmodel import Session

from app.events.record import AUDIT, check_chain_and_get_head
from app.store import audit, issued_credentials
from app.store.events import EventStore
from app.store.models import PersonRow


async def test_a_browser_is_sent_to_sign_in_and_a_script_is_told_how(knock):
    browser = await knock("GET", "/runs/abc", accept="text/html")
    assert (browser.status_code, browser.headers["location"]) == (303, "/sign-in?next=/runs/abc")
    script = await knock("GET", "/api/v1/runs")
    assert (script.status_code, script.headers["www-authenticate"]) == (401, "Bearer")
    assert script.json()["type"] == "/problems/unauthorized"


async def test_a_link_watches_and_does_nothing_else(knock, database, secrets):
    assert (await knock("GET", "/", "viewer", "link")).status_code == 204
    assert (await knock("POST", "/runs", "viewer", "link")).status_code == 403
    bearer = await knock("GET", "/", authorization=f"Bearer {secrets['viewer', 'link']}")
    assert bearer.status_code == 401


async def test_a_credential_ends_with_its_time_its_owner_and_its_owners_right(knock, database, secrets):
    with Session(database) as session, session.begin():
        row = issued_credentials.find_credential_even_if_invalid(session, secrets["operator", "token"])
        row.expires_at -= 7200
    assert (await knock("GET", "/", "operator")).status_code == 401
    with Session(database) as session, session.begin():
        issued_credentials.find_credential_even_if_invalid(session, secrets["operator", "token"]).expires_at += 7200
        session.get(PersonRow, "the-operator").right = "viewer"
    assert (await knock("POST", "/runs", "operator")).status_code == 403
    with Session(database) as session, session.begin():
        session.get(PersonRow, "the-operator").disabled = True
    assert (await knock("GET", "/", "operator", "session")).status_code == 401
    with Session(database) as session, session.begin():
        owner = session.get(PersonRow, "the-operator")
        owner.right, owner.disabled = "operator", False


async def test_another_site_cannot_use_a_session(knock):
    for headers in ({"origin": "https://elsewhere.example"}, {"sec_fetch_site": "cross-site"}, {"origin": "null"}):
        assert (await knock("POST", "/runs", "admin", "session", **headers)).status_code == 403
    own = {"origin": "http://temper.example", "sec_fetch_site": "same-origin"}
    assert (await knock("POST", "/runs", "admin", "session", **own)).status_code == 204


async def test_the_demo_answers_to_loopback_names_only(knock):
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "127.0.0.1", "127.9.9.9:1"):
        assert (await knock("GET", "/", demo=True, host=host)).status_code == 204, host
    for host in ("temper.example", "127.0.0.1.evil.example:8000", "evil.example", ""):
        assert (await knock("GET", "/", demo=True, host=host)).status_code == 403, host


async def test_what_was_done_and_what_was_refused_is_on_record_in_one_chain(knock, database):
    await knock("POST", "/api/v1/runs/abc/stop", "operator")
    await knock("GET", "/audit", "viewer")
    await knock("GET", "/", "viewer")
    with Session(database) as session:
        newest = [msgspec.to_builtins(one.event) for one in audit.list_audit_events(session, 2)]
    assert [(one["who"], one["via"], one["did"], one["status"]) for one in newest] == [
        ("the-viewer", "token", "GET /audit", 403),
        ("the-operator", "token", "POST /api/v1/runs/abc/stop", 204),
    ]
    assert newest[0]["source"] == "192.0.2.7"
    with Session(database) as session:
        head = audit.list_audit_events(session, 1)[0].hash
    assert check_chain_and_get_head(EventStore(database).read_lines("audit")) == head


async def test_the_secret_of_a_shared_link_is_not_in_the_record_of_its_refusal(knock, database):
    await knock("POST", "/share/s3cret")
    with Session(database) as session:
        [newest] = audit.list_audit_events(session, 1)
    assert newest.event.did == "POST /share/…"


async def test_what_is_done_while_the_database_is_away_is_on_record_once_it_is_back(knock, database):
    before = EventStore(database).read_newest_seq(AUDIT)
    with database.begin() as connection:
        connection.execute(text("alter table event rename to away"))
    asked = asyncio.create_task(knock("POST", "/runs", "operator", "token"))
    await asyncio.wait({asked}, timeout=0.3)
    assert not asked.done()
    with database.begin() as connection:
        connection.execute(text("alter table away rename to event"))
    assert (await asked).status_code == 204
    with Session(database) as session:
        [newest] = audit.list_audit_events(session, 1)
    assert (newest.event.did, newest.event.who) == ("POST /runs", "the-operator")
    assert newest.seq == before + 1


async def test_the_record_says_which_token_was_used_and_who_made_it(knock, database, secrets):
    with Session(database) as session, session.begin():
        lent, secrets["lender", "token"] = issued_credentials.issue_credential(
            session,
            person="the-operator",
            right="operator",
            kind="token",
            label="",
            seconds=600,
            made_by=("eve", "the-admin"),
        )
        token = lent.id
    await knock("POST", "/runs", "lender")
    await knock("POST", "/runs", "operator", "session")
    with Session(database) as session:
        newest = [one.event for one in audit.list_audit_events(session, 2)]
    assert [(one.who, one.token, one.made_by) for one in newest] == [
        ("the-operator", "", ()),
        ("the-operator", token, ("eve", "the-admin")),
    ]


@pytest.mark.parametrize("header", ["Remote-Groups", "X-Forwarded-Groups", "X-Auth-Request-Groups"])
async def test_no_header_gives_a_right_whoever_sends_it(knock, header):
    for client in ("192.0.2.7", "127.0.0.1"):
        sent = {header: "stig-admins", "Remote-User": "the-admin", "X-Forwarded-User": "the-admin"}
        assert (await knock("GET", "/api/v1/people", client=client, **sent)).status_code == 401
        assert (await knock("GET", "/api/v1/people", "viewer", client=client, **sent)).status_code == 403
