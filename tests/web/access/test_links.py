"""A shared link shows the run that it names: lists are shorter by it, and what names another run is refused."""

import re

import httpx
import pytest
from sqlmodel import Session

from app.store import issued_credentials
from app.store.models import PersonRow, RunRow
from tests.web.access.walk import application

SHOWN, HIDDEN = "aaaa1111", "bbbb2222"


def row(run, at):
    return RunRow(
        id=run, host="fixture", state="finished", mode="auto", skill="stig", lineup="simulated", simulated=True,
        note=f"note of {run}", queued_at=at, started_at=at, ended_at=at + 1,
    )  # fmt: skip


@pytest.fixture
async def guest(tmp_path):
    """Who opened a link to the older of two runs."""
    async with application(tmp_path / "data", sign_in=True) as made:
        with Session(made.state.runtime.database) as session, session.begin():
            session.add_all([row(SHOWN, 1000.0), row(HIDDEN, 2000.0)])
            session.add(PersonRow(name="jo", right="operator", password="", made_at=0.0))
            _, link = issued_credentials.issue_credential(
                session, person="jo", right="viewer", kind="link", label="", run=SHOWN, seconds=3600.0
            )
            _, old = issued_credentials.issue_credential(
                session, person="jo", right="viewer", kind="link", label="/", seconds=3600.0
            )
            _, token = issued_credentials.issue_credential(
                session, person="jo", right="operator", kind="token", label="", seconds=3600.0
            )
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://temper.example") as http:
            http.old, http.token = old, token
            opened = await http.get(f"/share/{link}")
            assert (opened.status_code, opened.headers["location"]) == (303, f"/runs/{SHOWN}")
            yield http


async def test_lists_show_the_run_that_the_link_names_and_no_other(guest):
    for path in ("/runs", f"/compare?left={SHOWN}&right={HIDDEN}"):
        page = (await guest.get(path, headers={"accept": "text/html"})).text
        assert SHOWN in page, path
        assert f"/runs/{HIDDEN}" not in page, path
    listed = (await guest.get("/api/v1/runs")).json()["runs"]
    assert [run["id"] for run in listed] == [SHOWN]
    assert (await guest.get("/api/v1/me")).json()["via"] == "link"


async def test_another_run_and_whatever_is_of_all_runs_is_refused(guest):
    for path in (f"/runs/{HIDDEN}", f"/api/v1/runs/{HIDDEN}", f"/api/v1/runs/{HIDDEN}/events", "/hosts", "/ops"):
        answer = await guest.get(path)
        assert answer.status_code == 403, path
    assert "gives access only to run aaaa1111" in (await guest.get(f"/api/v1/runs/{HIDDEN}")).json()["detail"]
    assert (await guest.get(f"/api/v1/runs/{SHOWN}")).status_code == 200


async def test_a_link_of_an_older_temper_that_names_no_run_opens_none(guest):
    await guest.get(f"/share/{guest.old}")
    assert (await guest.get(f"/api/v1/runs/{SHOWN}")).status_code == 403
    assert (await guest.get("/api/v1/runs")).json()["runs"] == []


async def test_a_link_that_is_made_without_a_run_names_the_one_that_the_page_shows(guest):
    operator = {"authorization": f"Bearer {guest.token}"}
    made = await guest.post("/api/v1/links", json={"hours": 1}, headers=operator)
    assert made.status_code == 201, made.text
    opened = await guest.get(made.json()["path"])
    assert opened.headers["location"] == f"/runs/{HIDDEN}"


async def test_a_link_is_made_on_the_page_and_opens_that_run_alone(guest):
    guest.cookies.clear()
    mine = {"authorization": f"Bearer {guest.token}"}
    said = await guest.post(f"/runs/{SHOWN}/share", data={"hours": "1"}, headers=mine)
    assert said.status_code == 200
    [link] = re.findall(r'value="http://temper.example(/share/[^"]+)"', said.text)
    assert (await guest.post(f"/runs/{SHOWN}/share", data={"hours": "9000"}, headers=mine)).status_code == 422
    assert (await guest.get(link)).headers["location"] == f"/runs/{SHOWN}"
    assert (await guest.get(f"/runs/{SHOWN}/items")).status_code == 200
    assert (await guest.get(f"/runs/{HIDDEN}/events")).status_code == 403
    assert (await guest.post(f"/runs/{SHOWN}/label", data={"name": "x"})).status_code == 403


async def test_a_link_tells_of_no_host(guest):
    assert '<select name="host">' not in (await guest.get("/runs")).text
