"""Colours and density that a reader chose: kept in a cookie of the browser, and written on each page as attributes."""

from contextvars import ContextVar
from dataclasses import dataclass
from zlib import crc32

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.people.rights import WHO

COOKIE = "temper-looks"


@dataclass(frozen=True)
class Appearance:
    scheme: str = ""
    """dark or light; empty to follow the reader's system."""
    density: str = ""
    """compact; empty for comfortable."""


_USUAL = Appearance()
_LOOKS: ContextVar[Appearance] = ContextVar("looks", default=_USUAL)
"""Of the reader whose request is served."""


class AppearanceContext:
    """Middleware: lets every page, an error page included, be drawn as its reader chose."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _LOOKS.set(parse_appearance_cookie(HTTPConnection(scope).cookies.get(COOKIE, "")))
        await self._app(scope, receive, send)


def get_appearance() -> Appearance:
    return _LOOKS.get()


def parse_appearance_cookie(cookie: str) -> Appearance:
    """Return what the cookie says. Words that no page offers count as not chosen."""
    scheme, _, density = cookie.partition(".")
    return Appearance(scheme if scheme in ("dark", "light") else "", density if density == "compact" else "")


def hash_name_of_signed_in_person() -> str:
    """Return a short mark of the person, so that people who share a browser keep their own; empty without sign-in."""
    person = WHO.get()
    return f"{crc32(person.name.encode()):08x}" if person and person.via == "session" else ""
