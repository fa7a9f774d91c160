"""The three rights, and what a route asks of who comes to it. A route that says nothing is for admins."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

Right = Literal["viewer", "operator", "admin"]
Via = Literal["demo", "session", "token", "link"]
RIGHTS: tuple[Right, ...] = get_args(Right)

READING = ("GET", "HEAD", "OPTIONS")

E = TypeVar("E")


@dataclass(frozen=True)
class Person:
    name: str
    right: Right
    via: Via
    credential: str = ""
    """Id of the session, token or link; empty for the demo operator."""
    runs: tuple[str, ...] | None = None
    """What a shared link names, and nothing else is shown to who comes by it; None: whatever the right reaches."""


DEMO = Person("demo operator", "admin", "demo")
"""Everybody, on loopback, until people have names."""

WHO: ContextVar[Person | None] = ContextVar("who", default=None)
"""Who the present request is from."""


@dataclass(frozen=True)
class Needs:
    """What a route asks for."""

    right: Right | None
    """None: open to all."""
    links: bool = False
    """Also for shared links, of the runs they name: those of the path are looked at by the guard, others by the route
    itself, with `opens` and `only`."""


CLOSED = Needs("admin")
_SAID = "temper_needs"


def _saying(needs: Needs) -> Callable[[E], E]:
    def said(endpoint: E) -> E:
        setattr(endpoint, _SAID, needs)
        return endpoint

    return said


everybody = _saying(Needs(None))
guests = _saying(Needs("viewer", links=True))
viewers = _saying(Needs("viewer"))
operators = _saying(Needs("operator"))
admins = _saying(Needs("admin"))


def said_needs(endpoint: Any) -> Needs | None:
    """None where whoever made the route forgot to say."""
    found: Needs | None = getattr(endpoint, _SAID, None)
    return found


def signed(said: str) -> str:
    """The name that goes on record: the person's own, or what a nameless one says of itself."""
    person = WHO.get()
    return said if person is None or person.via == "demo" else person.name


def came() -> str:
    """How whoever the present request is from has come in."""
    person = WHO.get()
    return person.via if person else ""


def token() -> str:
    """Id of the API token that the present request brought; empty where it brought none."""
    person = WHO.get()
    return person.credential if person and person.via == "token" else ""


def may(right: Right, needed: Right) -> bool:
    return RIGHTS.index(right) >= RIGHTS.index(needed)


def reads_prompts() -> bool:
    """What roles were told of a host is for whoever works with it; who only looks sees that they were told."""
    person = WHO.get()
    return person is not None and may(person.right, "operator")


def admits(needs: Needs, person: Person | None, run: str | None) -> bool:
    """`run` is the one in the route's path, where there is one."""
    if needs.right is None:
        return True
    if person is None or not may(person.right, needs.right):
        return False
    return person.runs is None or (needs.links and (run is None or run in person.runs))


def only() -> tuple[str, ...] | None:
    """The runs that the present request may see; None: all."""
    person = WHO.get()
    return None if person is None else person.runs


def opens(run: str) -> bool:
    shown = only()
    return shown is None or run in shown
