"""Check passwords in two threads, one of them reserved for known browsers and networks."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Engine
from sqlmodel import Session

from app.people.names import is_name
from app.people.passwords import NOBODY, PasswordsBusy, hashed, matches, outdated
from app.store import attempts, people
from app.store.models import PersonRow
from app.web.access.throttle import CountedBy, lane

T = TypeVar("T")
CONNECTIONS = 3
SESSION_SECONDS, BROWSER_SECONDS = 12 * 3600.0, 180 * 24 * 3600.0
KNOWN_SECONDS = 30 * 24 * 3600.0
QUEUE = 16
"""Attempts that may wait per queue; checking a password takes some 100 ms and 64 MiB."""
IN_A_MOMENT = 2.0


@dataclass(frozen=True)
class SignInTry:
    name: str
    password: str = field(repr=False)
    source: str
    browser: str = field(repr=False)
    """Secret of the browser's own cookie, or empty."""


@dataclass(frozen=True)
class TryLater:
    seconds: float


@dataclass(frozen=True)
class Wrong:
    """Name and password do not match."""


@dataclass(frozen=True)
class LetIn:
    session: str
    browser: str
    """New secret for the browser; empty if its current one is valid."""


class PasswordCheck:
    def __init__(self, database: Engine) -> None:
        self._database = database
        self._threads = {line: ThreadPoolExecutor(1, f"passwords {line}") for line in ("look", "known", "new")}
        self._waiting = dict.fromkeys(self._threads, 0)

    def close(self) -> None:
        for threads in self._threads.values():
            threads.shutdown(cancel_futures=True)

    async def tried(self, one: SignInTry) -> LetIn | Wrong | TryLater:
        found = await self._in_line("look", lambda: self._lane(one))
        if isinstance(found, TryLater):
            return found
        return await self._in_line("new" if found.stranger else "known", lambda: self._looked_at(one, found))

    async def _in_line(self, name: str, does: Callable[[], T]) -> T | TryLater:
        if self._waiting[name] >= QUEUE:
            return TryLater(IN_A_MOMENT)
        self._waiting[name] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads[name], does)
        finally:
            self._waiting[name] -= 1

    def _lane(self, one: SignInTry) -> CountedBy | TryLater:
        now = time.time()
        with Session(self._database) as session:
            known, browser, name = False, "", one.name if is_name(one.name) else ""
            if name:
                browser = people.browser_of(session, name, one.browser, now)
                known = people.came_from(session, name, one.source, now - KNOWN_SECONDS)
            found = lane(name, one.source, browser=browser, known=known)
            left = attempts.wait(session, found.limits, now)
        return TryLater(left) if left else found

    def _looked_at(self, one: SignInTry, found: CountedBy) -> LetIn | Wrong | TryLater:
        with Session(self._database) as session:
            with session.begin():
                taken = attempts.count(session, found.limits, time.time())
            if not taken:
                return TryLater(attempts.WITHIN)
            owner = people.person(session, one.name) if is_name(one.name) else None
            kept = owner.password if owner and owner.password else NOBODY
            session.rollback()  # release the connection while the password is checked
            try:
                right = matches(one.password, kept)
                renewed = hashed(one.password) if right and outdated(kept) else ""
            except PasswordsBusy:
                return TryLater(IN_A_MOMENT)
        return self._let_in(one, found, renewed) if right else Wrong()

    def _let_in(self, one: SignInTry, found: CountedBy, renewed: str) -> LetIn | Wrong:
        with Session(self._database) as session, session.begin():
            owner = people.person(session, one.name)
            if owner is None or owner.disabled:
                return Wrong()
            if renewed:
                owner.password = renewed
            attempts.forget(session, found.limits)
            secret = _issue(session, owner, "session", one.source, SESSION_SECONDS)
            if people.browser_of(session, one.name, one.browser, time.time()):
                return LetIn(secret, "")
            return LetIn(secret, _issue(session, owner, "browser", one.source, BROWSER_SECONDS))


def _issue(session: Session, owner: PersonRow, kind: str, source: str, seconds: float) -> str:
    right = owner.right if kind == "session" else "viewer"
    _, secret = people.issue(
        session, person=owner.name, right=right, kind=kind, label=source, source=source, seconds=seconds
    )
    return secret
