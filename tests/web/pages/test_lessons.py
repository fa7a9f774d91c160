"""The lessons, from which run, and whether they helped."""

from app.store.models import LessonRow
from app.web.pages.lessons import LessonLine
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST, LESSON


async def test_the_page_says_what_was_learnt_where_and_whether_it_helped(tmp_path):
    async with house(tmp_path / "data") as made:
        assert "No lessons yet" in (await made.http.get("/lessons")).text
        made.append("r1", *EVENTS)
        page = (await made.http.get("/lessons")).text
        assert LESSON.advice in page
        assert f'href="/runs/r1/items/{FIRST}"' in page
        assert '<small class="sim">simulated</small>' in page
        found = (await made.http.get("/lessons?q=BACKUP+login")).text
        assert LESSON.advice in found
        assert 'value="BACKUP login"' in found
        assert "No lesson matches" in (await made.http.get("/lessons?q=%25")).text
        assert "No lesson matches" in (await made.http.get("/lessons?rule=V-1")).text
        assert [one["id"] for one in (await made.http.get("/api/v1/lessons?q=backup")).json()["lessons"]] == ["l1"]


def test_what_its_uses_say_of_a_lesson():
    def said(uses, hits):
        row = LessonRow(id="l", rule="", host="", run="", at=0, mechanism="", environment="", advice="")
        row.uses, row.hits = uses, hits
        return LessonLine(row, simulated=False).usage_text

    assert said(0, 0) == "not used yet"
    assert said(1, 0) == "used 1 time, has not helped yet"
    assert said(4, 2) == "helped 2 of 4 times"
    assert said(3, 0) == "used 3 times without success: dropped"
