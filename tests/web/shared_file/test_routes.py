"""The address of the file, and the pages that lead to it."""

import re

import httpx
from sqlmodel import Session

from app.events.record import GENESIS, build_recorded_event
from app.store import issued_credentials
from app.store.models import PersonRow
from tests.runs.doors import house
from tests.web.access.walk import application
from tests.web.pages.mission_log import EVENTS


async def test_the_file_is_a_download_and_the_page_leads_to_it(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS[:-1])
        early = await made.http.get("/api/v1/runs/r1/shared.html")
        assert (early.status_code, early.json()["type"]) == (409, "/problems/wrong-state")
        made.append("r1", EVENTS[-1])
        page = (await made.http.get("/runs/r1")).text
        [address] = re.findall(r'action="(/api/v1/runs/r1/shared.html)"', page)
        answer = await made.http.get(address)
        assert answer.headers["content-disposition"] == 'attachment; filename="temper-r1.html"'
        assert "sandbox" in answer.headers["content-security-policy"]
        assert (await made.http.get("/api/v1/runs/none/shared.html")).status_code == 404


async def test_without_people_sharing_gives_a_link_that_works_and_the_file(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        said = await made.http.post("/runs/r1/share", data={"hours": "24"})
        assert said.status_code == 200, said.text
        [link] = re.findall(r'readonly value="([^"]+)"', said.text)
        assert link == "http://localhost/runs/r1"
        assert (await made.http.get(link)).status_code == 200
        assert 'action="/api/v1/runs/r1/shared.html"' in said.text


async def test_who_may_not_read_prompts_gets_a_file_without_them(tmp_path):
    async with application(tmp_path / "data", sign_in=True) as made:
        with Session(made.state.runtime.database) as session, session.begin():
            tokens = {}
            for name in ("viewer", "operator"):
                session.add(PersonRow(name=name, right=name, password="", made_at=0.0))
                _, tokens[name] = issued_credentials.issue_credential(
                    session, person=name, right=name, kind="token", label="", seconds=3600.0
                )
            _, link = issued_credentials.issue_credential(
                session, person="operator", right="viewer", kind="link", label="", run="r1", seconds=3600.0
            )
        store = made.state.runtime.store
        previous = GENESIS
        for seq, event in enumerate(EVENTS, 1):
            one = build_recorded_event("r1", seq, 1000.0, event, previous)
            store.append([one])
            previous = one.hash
        async with httpx.AsyncClient(transport=httpx.ASGITransport(made), base_url="http://temper.example") as http:
            path = "/api/v1/runs/r1/shared.html"
            for name, whole in (("viewer", 403), ("operator", 200)):
                asked = {"authorization": f"Bearer {tokens[name]}"}
                assert (await http.get(path, headers=asked)).status_code == 200
                assert (await http.get(path, params={"prompts": "true"}, headers=asked)).status_code == whole
            assert (await http.get(path)).status_code == 401
            assert (await http.get(f"/share/{link}")).status_code == 303
            assert (await http.get(path)).status_code == 200
            assert (await http.get(path, params={"prompts": "true"})).status_code == 403
