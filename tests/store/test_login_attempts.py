"""Attempts are counted over a window, which begins with the first of them."""

import pytest
from sqlmodel import Session, select

from app.store.db import open_and_migrate_database
from app.store.login_attempts import WITHIN, LoginAttemptRow, clear_attempts, count_and_check_attempt, get_wait_seconds

LIMITS = {"name:ada": 2, "address:1": 3}


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


def test_attempts_are_allowed_up_to_the_limit_and_again_after_the_window(session):
    assert [count_and_check_attempt(session, LIMITS, 1000.0 + at) for at in range(3)] == [True, True, False]
    assert get_wait_seconds(session, LIMITS, 1000.0) == WITHIN
    assert get_wait_seconds(session, LIMITS, 1000.0 + WITHIN - 1) == 1.0
    assert get_wait_seconds(session, LIMITS, 1001.0 + WITHIN) == 0.0
    assert not count_and_check_attempt(session, LIMITS, 1000.0 + WITHIN - 0.1)
    assert count_and_check_attempt(session, LIMITS, 1000.0 + WITHIN)
    rows = session.exec(select(LoginAttemptRow)).all()
    assert {row.key: (row.tries, row.since) for row in rows} == dict.fromkeys(LIMITS, (1, 1000.0 + WITHIN))


def test_one_below_its_limit_waits_for_nothing_and_a_right_password_clears_its_own(session):
    count_and_check_attempt(session, {"name:ada": 2}, 1000.0)
    assert get_wait_seconds(session, LIMITS, 1000.0) == 0.0
    count_and_check_attempt(session, LIMITS, 1000.0)
    count_and_check_attempt(session, {"name:bob": 1}, 1000.0)
    clear_attempts(session, LIMITS)
    session.expire_all()
    assert [row.key for row in session.exec(select(LoginAttemptRow))] == ["name:bob"]


def test_counters_whose_window_is_over_are_deleted_at_once(session):
    count_and_check_attempt(session, {"name:bob": 1}, 1000.0)
    count_and_check_attempt(session, {"name:ada": 1}, 1000.0 + WITHIN)
    session.expire_all()
    assert [row.key for row in session.exec(select(LoginAttemptRow))] == ["name:ada"]
