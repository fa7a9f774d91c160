"""Check passwords in two threads, one of them reserved for known browsers and networks. Guessing is slow, and
guessing another person's password does not lock them out."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from sqlalchemy import Engine
from sqlmodel import Session

from app.people.credential_expiry import BROWSER_SECONDS, SESSION_SECONDS
from app.people.names import is_person_name
from app.people.passwords import NOBODY, PasswordsBusy, hash_password, matches_digest, needs_rehash
from app.store import issued_credentials, login_attempts, people
from app.store.database_clock import database_time
from app.store.models import PersonRow
from app.web.access.connection_limiter import to_network_key

T = TypeVar("T")
CONNECTIONS = 3
KNOWN_SECONDS = 30 * 24 * 3600.0
QUEUE = 16
"""Attempts that may wait per queue; checking a password takes some 100 ms and 64 MiB."""
IN_A_MOMENT = 2.0
TRIES_PER_BROWSER, TRIES_PER_KNOWN_NETWORK, TRIES_PER_NETWORK, TRIES_PER_NAME = 10, 5, 5, 30


@dataclass(frozen=True)
class LoginLimits:
    """The counters that an attempt counts against."""

    limits: dict[str, int]
    """Counter key to allowed attempts per window."""
    stranger: bool


def choose_login_limits(name: str, source: str, *, browser_id: str, is_known_network: bool) -> LoginLimits:
    """Choose the counters of a sign-in attempt.

    `browser_id`: id of a cookie that this person's browser holds. `known_network`: the person signed in from this
    network before. Each has its own counter, so strangers can only use up their own."""
    place = to_network_key(source)
    if browser_id:
        return LoginLimits({f"browser {browser_id}": TRIES_PER_BROWSER}, stranger=False)
    if is_known_network:
        return LoginLimits({f"name {name} from {place}": TRIES_PER_KNOWN_NETWORK}, stranger=False)
    return LoginLimits({f"from {place}": TRIES_PER_NETWORK, f"name {name}": TRIES_PER_NAME}, stranger=True)


@dataclass(frozen=True)
class SignInAttempt:
    name: str
    password: str = field(repr=False)
    source: str
    browser: str = field(repr=False)
    """Secret of the browser's own cookie, or empty."""


@dataclass(frozen=True)
class RetryLater:
    seconds: float


@dataclass(frozen=True)
class WrongPassword:
    """Name and password do not match."""


@dataclass(frozen=True)
class SignInGranted:
    session: str
    browser: str
    """New secret for the browser; empty if its current one is valid."""


class PasswordChecker:
    def __init__(self, database: Engine) -> None:
        self._database = database
        self._threads = {line: ThreadPoolExecutor(1, f"passwords {line}") for line in ("look", "known", "new")}
        self._waiting = dict.fromkeys(self._threads, 0)

    def close(self) -> None:
        for threads in self._threads.values():
            threads.shutdown(cancel_futures=True)

    async def check_attempt(self, attempt: SignInAttempt) -> SignInGranted | WrongPassword | RetryLater:
        found = await self._run_in_queue("look", lambda: self._choose_limits_or_retry_later(attempt))
        if isinstance(found, RetryLater):
            return found
        return await self._run_in_queue(
            "new" if found.stranger else "known", lambda: self._check_password_and_grant(attempt, found)
        )

    async def _run_in_queue(self, queue_name: str, work: Callable[[], T]) -> T | RetryLater:
        if self._waiting[queue_name] >= QUEUE:
            return RetryLater(IN_A_MOMENT)
        self._waiting[queue_name] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads[queue_name], work)
        finally:
            self._waiting[queue_name] -= 1

    def _choose_limits_or_retry_later(self, attempt: SignInAttempt) -> LoginLimits | RetryLater:
        with Session(self._database) as session:
            now = database_time(session)
            known, browser, name = False, "", attempt.name if is_person_name(attempt.name) else ""
            if name:
                browser = issued_credentials.find_valid_browser_cookie_id(session, name, attempt.browser, now)
                known = issued_credentials.has_signed_in_from(session, name, attempt.source, now - KNOWN_SECONDS)
            found = choose_login_limits(name, attempt.source, browser_id=browser, is_known_network=known)
            left = login_attempts.get_wait_seconds(session, found.limits, now)
        return RetryLater(left) if left else found

    def _check_password_and_grant(
        self, attempt: SignInAttempt, login_limits: LoginLimits
    ) -> SignInGranted | WrongPassword | RetryLater:
        with Session(self._database) as session:
            with session.begin():
                taken = login_attempts.count_and_check_attempt(session, login_limits.limits, database_time(session))
            if not taken:
                return RetryLater(login_attempts.WITHIN)
            owner = people.find_person(session, attempt.name) if is_person_name(attempt.name) else None
            kept = owner.password if owner and owner.password else NOBODY
            session.rollback()  # release the connection while the password is checked
            try:
                right = matches_digest(attempt.password, kept)
                renewed = hash_password(attempt.password) if right and needs_rehash(kept) else ""
            except PasswordsBusy:
                with session.begin():
                    login_attempts.uncount_attempt_without_password_check(session, login_limits.limits)
                return RetryLater(IN_A_MOMENT)
        return self._grant_sign_in(attempt, login_limits, renewed) if right else WrongPassword()

    def _grant_sign_in(
        self, attempt: SignInAttempt, login_limits: LoginLimits, new_password_hash: str
    ) -> SignInGranted | WrongPassword:
        with Session(self._database) as session, session.begin():
            owner = people.find_person(session, attempt.name)
            if owner is None or owner.disabled:
                return WrongPassword()
            if new_password_hash:
                owner.password = new_password_hash
            login_attempts.clear_attempts(session, login_limits.limits)
            secret = issue_session_or_browser_credential(session, owner, "session", attempt.source, attempt.source)
            if issued_credentials.find_valid_browser_cookie_id(
                session, attempt.name, attempt.browser, database_time(session)
            ):
                return SignInGranted(secret, "")
            browser = issue_session_or_browser_credential(session, owner, "browser", attempt.source, attempt.source)
            return SignInGranted(secret, browser)


def issue_session_or_browser_credential(
    session: Session, owner: PersonRow, kind: Literal["session", "browser"], label: str, source: str
) -> str:
    """Issue a session with the owner's right, or what marks a browser; return its secret."""
    right, seconds = (owner.right, SESSION_SECONDS) if kind == "session" else ("viewer", BROWSER_SECONDS)
    _, secret = issued_credentials.issue_credential(
        session, person=owner.name, right=right, kind=kind, label=label, source=source, seconds=seconds
    )
    return secret
