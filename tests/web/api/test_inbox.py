"""The inbox over the API: each answer names the address and the body that give it."""

import pytest

from app.web.url_paths import path_to
from tests.runs.doors import house
from tests.runs.test_approval_answer import WAITING, asks
from tests.web.pages.test_inbox import ASKED


@pytest.fixture
async def waiting(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", *ASKED, asks())
        yield made


async def test_a_decision_is_answered_with_what_the_list_says(waiting):
    inbox = (await waiting.http.get("/api/v1/inbox")).json()
    (one,) = inbox["decisions"]
    assert (inbox["count"], one["kind"], one["risk"], one["diff"]) == (1, "approval", "medium", "+v")
    assert one["breaks"]
    approve, refuse, edit = one["answers"]
    assert approve["address"] == f"/api/v1/approvals/{WAITING}"
    assert edit["body"]["actions"] == [{"do": "set_option", "path": "/etc/x", "key": "k", "value": "v"}]
    assert refuse["reason"] == "required"
    assert (await waiting.http.post(refuse["address"], json=refuse["body"])).status_code == 422
    given = await waiting.http.post(refuse["address"], json=refuse["body"] | {"reason": "not today"})
    assert (given.status_code, given.json()["decision"]) == (202, "refuse")


def test_every_address_of_an_answer_exists():
    for name in ("resume_run", "stop_run"):
        assert path_to(name, run="r1").endswith(name.removesuffix("_run"))
    for name in ("resume_rollout", "stop_rollout"):
        assert path_to(name, rollout="o1").startswith("/api/v1/rollouts/o1/")
    assert path_to("take_waiver_back", waiver="w1") == "/api/v1/waivers/w1/end"
    assert path_to("start_run") == "/api/v1/runs"
