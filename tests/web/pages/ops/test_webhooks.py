"""Webhooks on the operator's page: made, shown without their secrets, and taken away."""

import re

import httpx
import pytest
from sqlmodel import Session

from app.store.webhooks import list_runs_to_redeliver, list_webhooks
from app.web.pages.ops.webhooks import hide_url_secret
from tests.web.access.walk import application

BROWSER = {"accept": "text/html"}
URL = "https://chat.example/hooks/T0/B0/verysecret?key=alsosecret"


@pytest.fixture
async def made(tmp_path):
    async with application(tmp_path / "data") as made:
        made.database = made.state.runtime.database
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as made.http:
            yield made


def rows(made):
    with Session(made.database) as session:
        return list_webhooks(session)


async def test_one_is_added_its_secret_is_told_once_and_its_address_never(made):
    said = {"url": URL, "template": "chat", "kinds": "run.finished, sentry.alarm"}
    page = (await made.http.post("/ops/webhooks", data=said, headers=BROWSER)).text
    [row] = rows(made)
    assert row.secret in page
    assert (row.url, row.kinds, row.template) == (URL, "run.finished sentry.alarm", '{"text": "{text}"}')
    listed = (await made.http.get("/ops")).text
    for text in (page, listed):
        assert "https://chat.example/…" in text
        assert "verysecret" not in text
        assert "alsosecret" not in text
    assert row.secret not in listed
    assert (await made.http.post(f"/ops/webhooks/{row.id}", data={"verb": "remove"})).status_code == 303
    assert rows(made) == []


async def test_the_events_of_a_rollout_are_sent_again_too(made):
    await made.http.post("/ops/webhooks", data={"url": URL, "template": "", "kinds": ""})
    [row] = rows(made)
    words = {"hosts": ["fixture"], "rules": ["V-257985"], "mode": "scan"}
    rollout = (await made.http.post("/api/v1/rollouts", json=words)).json()["id"]
    for name, status in ((rollout, 303), ("none", 404)):
        answer = await made.http.post(f"/ops/webhooks/{row.id}", data={"verb": "again", "run": name}, headers=BROWSER)
        assert answer.status_code == status, answer.text
    with Session(made.database) as session:
        assert list_runs_to_redeliver(session, row.id) == [rollout]


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"url": "chat.example", "kinds": "", "template": "chat"}, "url"),
        ({"url": URL, "kinds": "run.nothing", "template": ""}, "kinds"),
        ({"url": URL, "kinds": "", "template": "{nothing}"}, "template"),
    ],
)
async def test_a_wrong_one_is_refused_at_its_field_and_nothing_is_added(made, typed, wrong):
    page = await made.http.post("/ops/webhooks", data=typed, headers=BROWSER)
    assert page.status_code == 422
    assert re.search(rf'name="{wrong}"[^>]*aria-invalid', page.text)
    assert rows(made) == []


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("https://chat.example/hooks/secret", "https://chat.example/…"),
        ("http://name:password@10.0.0.1:8080/?key=secret", "http://10.0.0.1:8080/…"),
        ("https://chat.example/", "https://chat.example/"),
    ],
)
def test_where_it_leads_is_shown_without_what_lets_one_in(url, seen):
    assert hide_url_secret(url) == seen
