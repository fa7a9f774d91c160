"""The list of runs: what is searched for is taken by the letter."""

import pytest
from sqlmodel import Session

from app.store.db import open_database
from app.store.models import RunRow
from app.store.run_list import RunSearch, read_run_page

RUN = {"host": "h", "state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": ""}


@pytest.fixture
def session(tmp_path):
    database = open_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


@pytest.mark.parametrize(("tag", "found"), [("wave_1", ["a"]), ("wave", []), ("%", []), ("wave-1", ["b"])])
def test_a_tag_matches_whole_and_by_the_letter(session, tag, found):
    session.add(RunRow(id="a", tags="night wave_1", queued_at=1.0, **RUN))
    session.add(RunRow(id="b", tags="wave-1 day", queued_at=2.0, **RUN))
    assert [row.id for row in read_run_page(session, RunSearch(tag=tag), None, 10).rows] == found


@pytest.mark.parametrize(("words", "found"), [("100%", ["a"]), ("_", []), ("WAVE 100", ["b", "a"])])
def test_each_word_stands_somewhere_by_the_letter(session, words, found):
    session.add(RunRow(id="a", queued_at=1.0, **RUN | {"note": "100% of wave 1"}))
    session.add(RunRow(id="b", queued_at=2.0, **RUN | {"note": "1000 in wave 2"}))
    assert [row.id for row in read_run_page(session, RunSearch(words=words), None, 10).rows] == found
