"""From what a request carries to the person it is from."""

import time
from http.cookies import CookieError, SimpleCookie

from sqlalchemy import Engine
from sqlmodel import Session
from starlette.datastructures import Headers

from app.people.rights import DEMO, RIGHTS, Person, Right, Via
from app.store import people

COOKIE = "temper-session"
USED_EVERY = 60.0
"""A credential's last use is kept this exactly: not every request is a write."""


class Doors:
    def __init__(self, database: Engine, *, demo: bool) -> None:
        """`demo`: whoever comes is the demo operator. For loopback alone."""
        self._database = database
        self.demo = demo

    def person(self, headers: Headers) -> Person | None:
        if self.demo:
            return DEMO
        if bearer := _bearer(headers):
            return self._known(bearer, ("token",))
        if cookie := _cookie(headers):
            return self._known(cookie, ("session", "link"))
        return None

    def _known(self, secret: str, kinds: tuple[str, ...]) -> Person | None:
        now = time.time()
        with Session(self._database) as session, session.begin():
            row = people.credential(session, secret)
            if row is None or row.kind not in kinds or row.ended_at is not None or row.expires_at <= now:
                return None
            owner = people.person(session, row.person)
            if owner is None or owner.disabled:
                return None
            if row.used_at is None or now - row.used_at >= USED_EVERY:
                row.used_at = now
                session.add(row)
            return Person(owner.name, _lesser(row.right, owner.right), _via(row.kind), row.id)


def _lesser(one: str, other: str) -> Right:
    """A token never outgrows its owner, also when the owner's right is taken back later."""
    return RIGHTS[min(RIGHTS.index(_right(one)), RIGHTS.index(_right(other)))]


def _right(word: str) -> Right:
    return next(right for right in RIGHTS if right == word)


def _via(kind: str) -> Via:
    kinds: dict[str, Via] = {"session": "session", "token": "token", "link": "link"}
    return kinds[kind]


def _bearer(headers: Headers) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""
