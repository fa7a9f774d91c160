"""The database's time, as a process goes by it between two answers."""

import pytest

from app.store import database_clock
from app.store.database_clock import TOO_FAR_OFF, DatabaseClock, open_clock
from app.store.db import open_and_migrate_database


class Hands:
    """A wall clock that anybody may set, and a steady one that nobody can."""

    def __init__(self):
        self.wall, self.steady = 5000.0, 10.0
        self.clock = DatabaseClock(lambda: self.wall, lambda: self.steady)

    def pass_seconds(self, seconds):
        self.wall, self.steady = self.wall + seconds, self.steady + seconds

    def ask(self, at, took=0.0):
        heard = self.clock.note_question_and_get_handler_of_answered_time()
        self.pass_seconds(took)
        heard(at)


def test_until_a_database_has_answered_it_is_the_processs_own_clock():
    hands = Hands()
    assert (hands.clock.now(), hands.clock.own_clock_seconds_ahead, hands.clock.seconds_since_answer) == (
        5000.0,
        0.0,
        0.0,
    )
    hands.wall += 60
    assert hands.clock.now() == 5060.0


def test_from_then_on_nobody_who_sets_the_nodes_clock_moves_it_and_it_says_how_far_that_is_off():
    hands = Hands()
    hands.ask(1000.0)
    hands.pass_seconds(2.5)
    assert (hands.clock.now(), hands.clock.own_clock_seconds_ahead, hands.clock.seconds_since_answer) == (
        1002.5,
        4000.0,
        2.5,
    )
    hands.wall = 1001.0
    assert hands.clock.now() == 1002.5
    assert hands.clock.own_clock_seconds_ahead == pytest.approx(-1.5)
    assert abs(hands.clock.own_clock_seconds_ahead) > TOO_FAR_OFF


def test_an_answer_that_took_long_moves_time_no_further_than_it_must():
    hands = Hands()
    hands.ask(5000.0)
    hands.ask(5000.5, took=4.0)  # it was 5000.5 at some time in those four seconds
    assert hands.clock.now() == 5004.0
    hands.ask(5009.0, took=4.0)  # no sooner than a second after it was asked for
    assert hands.clock.now() == 5009.0
    hands.ask(5008.0, took=0.1)  # its clock was set back
    assert hands.clock.now() == pytest.approx(5008.1)


@pytest.mark.parametrize(("is_shared", "time"), [(True, 1000.0), (False, 5000.0)])
def test_only_a_database_that_nodes_share_is_asked_for_its_time(tmp_path, monkeypatch, is_shared, time):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    monkeypatch.setattr(database_clock, "is_shared", lambda _: is_shared)
    monkeypatch.setattr(database_clock, "database_time", lambda _: 1000.0)
    monkeypatch.setattr(database_clock, "DatabaseClock", lambda: DatabaseClock(lambda: 5000.0, lambda: 10.0))
    assert open_clock(database).now() == time
    database.dispose()
