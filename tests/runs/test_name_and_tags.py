"""What people call a run, by whichever door; and what is no name and no tag."""

import pytest

from app.errors import Rejected
from app.runs.name_and_tags import set_run_labels, split_at_commas_and_blanks
from app.store import run_queries
from app.store.models import RunRow
from app.store.session_shared_within_request import open_read_session
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS


def row():
    return RunRow(id="r", host="h", state="finished", mode="auto", skill="stig", lineup="l", simulated=True,
                  note="", queued_at=1.0)  # fmt: skip


def test_a_name_is_one_line_and_tags_are_words():
    made = row()
    set_run_labels(made, "  before\n the \u202eaudit ", split_at_commas_and_blanks("nightly, rhel9  rhel9"))
    assert (made.name, made.tags) == ("before the audit", "nightly rhel9")
    set_run_labels(made, None, None)
    assert (made.name, made.tags) == ("before the audit", "nightly rhel9")
    set_run_labels(made, "", [])
    assert (made.name, made.tags) == ("", "")


@pytest.mark.parametrize(
    ("name", "tags", "field"),
    [
        ("x" * 81, None, "name"),
        (None, ["fine", "<b>"], "tags[1]"),
        (None, ["x" * 41], "tags[0]"),
        (None, [f"t{n}" for n in range(13)], "tags"),
    ],
)
def test_what_is_too_long_or_no_tag_is_said(name, tags, field):
    with pytest.raises(Rejected) as wrong:
        set_run_labels(row(), name, tags)
    assert wrong.value.field == field


async def test_page_api_and_terminal_name_the_same_run_and_it_is_found_again(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("abc1", *EVENTS)
        made.append("abc2", *EVENTS)
        answer = await made.http.post("/runs/abc1/label", data={"name": "before the audit", "tags": "nightly rhel9"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs/abc1")
        changed = await made.http.patch("/api/v1/runs/abc1", json={"tags": ["rhel9", "kept"]})
        assert (changed.json()["name"], changed.json()["tags"]) == ("before the audit", ["rhel9", "kept"])
        wrong = await made.http.patch("/api/v1/runs/abc1", json={"tags": ["no tag"]})
        assert (wrong.status_code, "tags[0]" in wrong.text) == (422, True)
        assert (await made.http.patch("/api/v1/runs/none", json={})).status_code == 404
        assert await made.typed("name", "abc2", "the second", "--tag", "rhel99") is None
        assert await made.typed("name", "abc2", "--tag", "a b") is not None
        with open_read_session(made.database) as session:
            second = run_queries.find_run(session, "abc2")
            assert second
            assert (second.name, second.tags) == ("the second", "rhel99")

        async def found(query):
            return [one["id"] for one in (await made.http.get(f"/api/v1/runs?{query}")).json()["runs"]]

        assert await found("tag=rhel9") == ["abc1"]
        assert await found("q=AUDIT") == ["abc1"]
        assert await found("q=fixture+second") == ["abc2"]
        assert await found("q=%25") == []
        page = (await made.http.get("/runs?q=audit&tag=kept")).text
        assert "before the audit" in page
        assert 'value="audit"' in page
        assert "the second" not in page
        assert "before the audit" in (await made.http.get("/runs/abc1/items")).text
