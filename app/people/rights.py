"""The three rights and each route's required right. Undeclared routes require admin."""

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
    """Id of the session, token or shared link; empty for the demo operator."""
    runs: tuple[str, ...] | None = None
    """The only runs that a shared link shows; None if there is no such limit."""


DEMO = Person("demo operator", "admin", "demo")
"""Every caller on loopback without sign-in."""

WHO: ContextVar[Person | None] = ContextVar("who", default=None)
"""Person of the current request."""


@dataclass(frozen=True)
class Needs:
    """Right that a route requires."""

    right: Right | None
    """None if the route is public."""
    links: bool = False
    """Whether shared links may use it for their runs. The guard checks the run in the path; the route checks others
    with `can_see_run` and `get_visible_runs`."""


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
    """Return the needs declared on an endpoint, or None."""
    found: Needs | None = getattr(endpoint, _SAID, None)
    return found


def signed(said: str) -> str:
    """Return the name to record: the signed-in person's, else the name given in the request."""
    person = WHO.get()
    return said if person is None or person.via == "demo" else person.name


def came() -> str:
    """Return how the person of the current request signed in."""
    person = WHO.get()
    return person.via if person else ""


def token() -> str:
    """Return the id of the current request's API token, or an empty string."""
    person = WHO.get()
    return person.credential if person and person.via == "token" else ""


def may(right: Right, needed: Right) -> bool:
    return RIGHTS.index(right) >= RIGHTS.index(needed)


def reads_prompts() -> bool:
    """Return True if the person may read prompts. They contain host data, so this needs operator."""
    person = WHO.get()
    return person is not None and may(person.right, "operator")


def admits(needs: Needs, person: Person | None, run: str | None) -> bool:
    """Return True if `person` meets `needs`. `run` is the run in the route's path, if any."""
    if needs.right is None:
        return True
    if person is None or not may(person.right, needs.right):
        return False
    return person.runs is None or (needs.links and (run is None or run in person.runs))


def only() -> tuple[str, ...] | None:
    """Return the runs that the current request may see, or None for all."""
    person = WHO.get()
    return None if person is None else person.runs


def opens(run: str) -> bool:
    shown = only()
    return shown is None or run in shown
