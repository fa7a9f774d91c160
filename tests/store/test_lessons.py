"""Lessons of earlier runs: which are told to the next attempt, and how a page lists them."""

import pytest
from sqlmodel import Session

from app.store.db import open_and_migrate_database
from app.store.lessons import (
    DROP_AFTER,
    MOST_WORDS,
    list_most_helpful_lessons_for_rule,
    list_newest_lessons_and_simulated,
)
from app.store.models import LessonRow, RunRow

RUN = {"host": "h", "state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "note": ""}


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


def add_lesson(session, name, at=0.0, **more):
    fields = {"rule": "A", "host": "h", "run": "r", "mechanism": "m", "environment": "e", "advice": "a", **more}
    session.add(LessonRow(id=name, at=at, **fields))


def test_what_helped_most_often_comes_first_and_what_never_helped_is_dropped(session):
    add_lesson(session, "new", at=1.0)
    add_lesson(session, "newer", at=2.0)
    add_lesson(session, "often", uses=9, hits=9)
    add_lesson(session, "half", uses=3, hits=2)
    add_lesson(session, "last chance", uses=DROP_AFTER - 1, at=0.5)
    add_lesson(session, "dropped", uses=DROP_AFTER)
    add_lesson(session, "of another", rule="B")
    found = [row.id for row in list_most_helpful_lessons_for_rule(session, "A", 9)]
    assert found == ["often", "half", "newer", "new", "last chance"]
    assert [row.id for row in list_most_helpful_lessons_for_rule(session, "A", 2)] == ["often", "half"]


def test_the_newest_come_first_and_pages_lead_on_without_a_gap(session):
    for name, simulated in (("r", True), ("s", False)):
        session.add(RunRow(id=name, queued_at=0.0, simulated=simulated, **RUN))
    for number, name in enumerate("abcdef"):
        add_lesson(
            session, name, at=float(number // 2), run="s" if name == "e" else "r", rule="B" if name < "c" else "A"
        )
    rows = list_newest_lessons_and_simulated(session, None, "", None, 9)
    assert [(row.id, simulated) for row, simulated in rows] == [(name, name != "e") for name in "fedcba"]
    after, seen = None, ""
    while page := list_newest_lessons_and_simulated(session, None, "", after, 4):
        after, seen = ((page[-1][0].at, page[-1][0].id), seen + "".join(row.id for row, _ in page) + " ")
    assert seen == "fedc ba "
    assert [row.id for row, _ in list_newest_lessons_and_simulated(session, "B", "", None, 9)] == ["b", "a"]


@pytest.mark.parametrize("column", ["rule", "host", "run", "mechanism", "environment", "advice"])
def test_each_word_of_a_search_may_stand_in_any_text(session, column):
    for name in ("r", "50%"):
        session.add(RunRow(id=name, queued_at=0.0, simulated=True, **RUN))
    add_lesson(session, "other", advice="five hundred")
    add_lesson(session, "found", **{column: "50%"})
    for words, found in (("50%", ["found"]), ("% 0", ["found"]), ("_", []), ("50% nothing", [])):
        assert [row.id for row, _ in list_newest_lessons_and_simulated(session, None, words, None, 9)] == found
    assert list_newest_lessons_and_simulated(session, None, " ".join(["e"] * MOST_WORDS + ["zzz"]), None, 9)
    assert not list_newest_lessons_and_simulated(session, None, " ".join(["e"] * (MOST_WORDS - 1) + ["zzz"]), None, 9)
