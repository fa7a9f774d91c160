"""Authenticate a request: from its token or cookie to a person."""

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from sqlalchemy import Engine
from sqlmodel import Session
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from app.people.credential_expiry import is_credential_valid
from app.people.rights import DEMO, RIGHTS, Person, Via, parse_right
from app.store import issued_credentials, people
from app.store.models import CredentialRow, PersonRow

COOKIE = "temper-session"
USED_EVERY = 60.0
"""Seconds between updates of a credential's last use, so that not every request writes."""
AT_ONCE = 2
"""Dedicated threads and connections, so that authentication never waits for busy pages."""


class Authenticator:
    def __init__(self, database: Engine, *, demo: bool, clock: Callable[[], float] = time.time) -> None:
        """`demo`: every request is made by the demo operator; for loopback only. `clock`: the time of all nodes."""
        self._database, self._clock = database, clock
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="door")
        self.demo = demo

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    async def authenticate(self, headers: Headers) -> Person | None:
        # A token that is wrong is never replaced by the demo's rights: its owner must learn that it is not valid.
        if bearer := _read_bearer_token(headers):
            return await self._look_up_in_thread(bearer, ("token",))
        if self.demo:
            return DEMO
        if cookie := read_cookie(headers, COOKIE):
            return await self._look_up_in_thread(cookie, ("session", "link"))
        return None

    def find_token_owner(self, token: str) -> Person | None:
        """Return the owner of an API token, for callers without an HTTP request."""
        return self._look_up_secret(token, ("token",))

    async def read_valid_people_by_credential(self, ids: Collection[str]) -> dict[str, Person]:
        """Return those of the credential ids that are still valid, each with its person."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._read_valid_people_by_credential, ids
        )

    async def _look_up_in_thread(self, secret: str, kinds: tuple[str, ...]) -> Person | None:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._look_up_secret, secret, kinds)

    def _look_up_secret(self, secret: str, kinds: tuple[str, ...]) -> Person | None:
        now = self._clock()
        with Session(self._database) as session, session.begin():
            row = issued_credentials.find_credential_even_if_invalid(session, secret)
            if row is None or row.kind not in kinds:
                return None
            found = _to_person_if_valid(row, people.find_person(session, row.person), now)
            if found and (row.used_at is None or now - row.used_at >= USED_EVERY):
                row.used_at = now
                session.add(row)
            return found

    def _read_valid_people_by_credential(self, ids: Collection[str]) -> dict[str, Person]:
        now = self._clock()
        with Session(self._database) as session:
            pairs = issued_credentials.list_credentials_with_owners(session, ids)
            found = {row.id: _to_person_if_valid(row, owner, now) for row, owner in pairs}
        return {name: person for name, person in found.items() if person}


def _to_person_if_valid(row: CredentialRow, owner: PersonRow | None, now: float) -> Person | None:
    if not is_credential_valid(row, now) or owner is None or owner.disabled:
        return None
    # A token never exceeds its owner's current right.
    right = min(parse_right(row.right), parse_right(owner.right), key=RIGHTS.index)
    return Person(owner.name, right, cast("Via", row.kind), row.id, _find_linked_runs(row), tuple(row.made_by.split()))


def _find_linked_runs(row: CredentialRow) -> tuple[str, ...] | None:
    """Return the runs that a shared link opens. Links of old versions name no run and open none."""
    if row.kind != "link":
        return None
    return (row.run,) if row.run else ()


def _read_bearer_token(headers: Headers) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def read_cookie(headers: Headers, name: str) -> str:
    return cookie_parser(headers.get("cookie", "")).get(name, "")
