"""Guessing is slow, by account and source; who has come in before is not kept out by it."""

import asyncio
import time
from dataclasses import replace

import pytest
from argon2 import PasswordHasher, Type
from sqlmodel import Session, select

from app.people import passwords
from app.people.passwords import PasswordsBusy, hash_password
from app.store import issued_credentials
from app.store.db import open_and_migrate_database
from app.store.login_attempts import WITHIN, LoginAttemptRow
from app.store.models import PersonRow
from app.web.access import password_checker
from app.web.access.connection_limiter import to_network_key
from app.web.access.password_checker import (
    IN_A_MOMENT,
    TRIES_PER_BROWSER,
    TRIES_PER_KNOWN_NETWORK,
    TRIES_PER_NAME,
    TRIES_PER_NETWORK,
    PasswordChecker,
    RetryLater,
    SignInAttempt,
    SignInGranted,
    WrongPassword,
    choose_login_limits,
)
from tests.postgres import new_database

PASSWORD = "a long enough password"
HOME, ELSEWHERE = "192.0.2.7", "198.51.100.{}"


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """What a password costs is tested in tests/people; here hundreds are tried, and counted."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)
    monkeypatch.setattr(passwords, "_HASHER", hasher)
    monkeypatch.setattr(password_checker, "NOBODY", hasher.hash("nobody's"))


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path):
    made = open_and_migrate_database(
        tmp_path / "t.sqlite" if request.param == "sqlite" else new_database(request.getfixturevalue("postgres_server"))
    )
    with Session(made) as session, session.begin():
        session.add(PersonRow(name="jo", right="operator", password=hash_password(PASSWORD), made_at=time.time()))
    yield made
    made.dispose()


@pytest.fixture
def desk(database):
    made = PasswordChecker(database)
    yield made
    made.close()


def wrong(source=HOME, name="jo", browser=""):
    return SignInAttempt(name, "no password of theirs", source, browser)


RIGHT = replace(wrong(), password=PASSWORD)


async def test_the_right_password_lets_in_and_a_wrong_one_does_not(desk, database):
    assert isinstance(await desk.check_attempt(wrong()), WrongPassword)
    found = await desk.check_attempt(RIGHT)
    assert isinstance(found, SignInGranted)
    with Session(database) as session:
        assert issued_credentials.find_credential_even_if_invalid(session, found.session).person == "jo"


@pytest.mark.parametrize("name", ["nobody", "no name\0at all", "x" * 64])
async def test_who_is_not_there_is_told_the_same(desk, name):
    assert isinstance(await desk.check_attempt(wrong(name=name)), WrongPassword)


async def test_a_few_wrong_tries_from_one_place_wait_and_time_heals_it(desk, database):
    for _ in range(TRIES_PER_NETWORK):
        assert isinstance(await desk.check_attempt(wrong()), WrongPassword)
    assert isinstance(await desk.check_attempt(wrong(name="sam")), RetryLater)
    assert isinstance(await desk.check_attempt(RIGHT), RetryLater)
    with Session(database) as session, session.begin():
        for row in session.exec(select(LoginAttemptRow)):
            row.since -= WITHIN
    assert isinstance(await desk.check_attempt(RIGHT), SignInGranted)


async def test_a_try_that_nobody_had_time_to_check_counts_for_nothing(desk, monkeypatch):
    def refuse(*_):
        raise PasswordsBusy("busy")

    with monkeypatch.context() as patch:
        patch.setattr(password_checker, "matches_digest", refuse)
        for _ in range(TRIES_PER_NETWORK + 1):
            assert await desk.check_attempt(RIGHT) == RetryLater(IN_A_MOMENT)
    assert isinstance(await desk.check_attempt(RIGHT), SignInGranted)


async def test_a_restart_and_another_node_forget_no_try(desk, database):
    for _ in range(TRIES_PER_NETWORK):
        await desk.check_attempt(wrong())
    other = PasswordChecker(database)
    assert isinstance(await other.check_attempt(wrong()), RetryLater)
    other.close()


async def test_of_many_tries_at_once_no_more_are_looked_at_than_one_after_the_other(desk):
    found = await asyncio.gather(*(desk.check_attempt(wrong()) for _ in range(12)))
    assert sum(isinstance(one, WrongPassword) for one in found) == TRIES_PER_NETWORK


async def test_strangers_lock_nobody_out_who_came_in_from_there_before_or_by_this_browser(desk, database):
    first = await desk.check_attempt(RIGHT)
    assert isinstance(first, SignInGranted)
    for number in range(TRIES_PER_NAME):
        assert isinstance(await desk.check_attempt(wrong(ELSEWHERE.format(number))), WrongPassword)
    assert isinstance(
        await desk.check_attempt(replace(RIGHT, source=ELSEWHERE.format(200))), RetryLater
    )  # any stranger waits now
    assert isinstance(await desk.check_attempt(RIGHT), SignInGranted)
    for _ in range(TRIES_PER_KNOWN_NETWORK):
        await desk.check_attempt(wrong(HOME))  # a stranger behind the same address
    assert isinstance(await desk.check_attempt(RIGHT), RetryLater)
    assert isinstance(await desk.check_attempt(replace(RIGHT, browser=first.browser)), SignInGranted)
    travelling = replace(RIGHT, source=ELSEWHERE.format(201), browser=first.browser)
    assert isinstance(await desk.check_attempt(travelling), SignInGranted)


async def test_a_browsers_cookie_opens_nothing_helps_nobody_else_and_is_counted_too(desk, database):
    first = await desk.check_attempt(RIGHT)
    for _ in range(TRIES_PER_BROWSER):
        assert isinstance(await desk.check_attempt(wrong(browser=first.browser)), WrongPassword)
    assert isinstance(await desk.check_attempt(wrong(browser=first.browser)), RetryLater)
    with Session(database) as session:
        assert issued_credentials.find_valid_browser_cookie_id(session, "sam", first.browser, time.time()) == ""
        assert issued_credentials.find_credential_even_if_invalid(session, first.browser).kind == "browser"


async def test_ten_thousand_names_from_one_place_leave_a_few_rows(desk, database):
    for number in range(200):
        await desk.check_attempt(wrong(name=f"name{number}"))
    with Session(database) as session:
        assert len(session.exec(select(LoginAttemptRow)).all()) == TRIES_PER_NETWORK + 1


def test_strangers_are_counted_by_where_they_are_and_by_whom_they_want_to_be():
    found = choose_login_limits("jo", "192.0.2.7", browser_id="", is_known_network=False)
    assert set(found.limits) == {"from 192.0.2.7", "name jo"}
    assert found.stranger


def test_who_came_in_before_shares_no_count_with_strangers():
    strangers = set(choose_login_limits("jo", "192.0.2.7", browser_id="", is_known_network=False).limits)
    there = choose_login_limits("jo", "192.0.2.7", browser_id="", is_known_network=True)
    browser = choose_login_limits("jo", "192.0.2.7", browser_id="a1", is_known_network=True)
    assert not strangers & set(there.limits)
    assert not strangers & set(browser.limits)
    assert not set(there.limits) & set(browser.limits)
    assert not there.stranger
    assert not browser.stranger


def test_a_network_of_version_6_is_one_source():
    assert to_network_key("2001:db8:1:2::1") == to_network_key("2001:db8:1:2:ffff::") == "2001:db8:1:2::/64"
    assert to_network_key("2001:db8:1:3::1") != to_network_key("2001:db8:1:2::1")
    assert to_network_key("::ffff:192.0.2.7") == "192.0.2.7"
    assert to_network_key("x" * 5000) == "somewhere"
