"""The palette's search: what a person may see is found, and foreign text stays text."""

import pytest

from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST


@pytest.mark.parametrize(
    ("query", "found"),
    [("", "Start a run"), ("fleet", 'href="/fleet"'), ("r1", "/runs/r1"), (FIRST, f"/runs/r1/items/{FIRST}")],
)
async def test_what_is_there_is_found(tmp_path, query, found):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        for part in ("0", "1"):
            answer = await made.http.get("/find", params={"q": query, "part": part, "run": "r1"})
            assert answer.status_code == 200
            assert found in answer.text


async def test_a_name_that_looks_like_markup_stays_text(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        await made.http.patch("/api/v1/runs/r1", json={"name": "<img src=x onerror=alert(1)>"})
        page = (await made.http.get("/find", params={"q": "img", "part": "1"})).text
        assert "&lt;img src=x" in page
        assert "<img" not in page


async def test_nothing_found_says_so(tmp_path):
    async with house(tmp_path) as made:
        assert "Nothing found" in (await made.http.get("/find", params={"q": "zzzz"})).text
