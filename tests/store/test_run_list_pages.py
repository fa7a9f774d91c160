"""The list of runs: what is searched for is taken by the letter."""

import pytest
from sqlmodel import Session

from app.store.db import open_and_migrate_database
from app.store.models import RunRow
from app.store.run_list_pages import ListPlace, read_run_page

RUN = {"host": "h", "state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": ""}


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


@pytest.mark.parametrize(("tag", "found"), [("wave_1", ["a"]), ("wave", []), ("%", []), ("wave-1", ["b"])])
def test_a_tag_matches_whole_and_by_the_letter(session, tag, found):
    session.add(RunRow(id="a", tags="night wave_1", queued_at=1.0, **RUN))
    session.add(RunRow(id="b", tags="wave-1 day", queued_at=2.0, **RUN))
    assert [row.id for row in read_run_page(session, {"tag": tag}, None, 10).rows] == found


@pytest.mark.parametrize(("words", "found"), [("100%", ["a"]), ("_", []), ("WAVE 100", ["b", "a"])])
def test_each_word_stands_somewhere_by_the_letter(session, words, found):
    session.add(RunRow(id="a", queued_at=1.0, **RUN | {"note": "100% of wave 1"}))
    session.add(RunRow(id="b", queued_at=2.0, **RUN | {"note": "1000 in wave 2"}))
    assert [row.id for row in read_run_page(session, {"q": words}, None, 10).rows] == found


def test_pages_lead_on_and_back_without_a_gap(session):
    for number in range(7):
        session.add(RunRow(id=str(number), queued_at=float(number // 2), **RUN))
    first = read_run_page(session, {}, None, 3)
    assert ([row.id for row in first.rows], first.more_before, first.more_after) == (["6", "5", "4"], False, True)
    second = read_run_page(session, {}, ListPlace(forward=True, at=2.0, id="4"), 3)
    assert ([row.id for row in second.rows], second.more_before, second.more_after) == (["3", "2", "1"], True, True)
    back = read_run_page(session, {}, ListPlace(forward=False, at=1.0, id="3"), 2)
    assert ([row.id for row in back.rows], back.more_before, back.more_after) == (["5", "4"], True, True)


@pytest.mark.parametrize(
    ("asked", "only", "found"),
    [
        ({"state": "queued"}, None, ["b", "a"]),
        ({"host": "h"}, None, ["c", "a"]),
        ({"host": "", "state": None}, ("a", "b"), ["b", "a"]),
        ({}, (), []),
    ],
)
def test_a_list_may_be_of_one_state_one_host_or_some_runs(session, asked, only, found):
    for number, (name, changed) in enumerate({"a": {}, "b": {"host": "g"}, "c": {"state": "finished"}}.items()):
        session.add(RunRow(id=name, queued_at=float(number), **RUN | changed))
    assert [row.id for row in read_run_page(session, asked, None, 10, only).rows] == found
