"""The three rights and each route's required right. Undeclared routes require admin."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from app.errors import BadInput

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
    made_by: tuple[str, ...] = ()
    """The people who made the credential for somebody else, the first one first."""


DEMO = Person("demo operator", "admin", "demo")
"""Every caller on loopback without sign-in."""

WHO: ContextVar[Person | None] = ContextVar("who", default=None)
"""Person of the current request."""


@dataclass(frozen=True)
class AccessNeeds:
    right: Right | None
    """None if the route is public."""
    links: bool = False
    """Whether shared links may use it for their runs. The guard checks the run in the path; the route checks others
    with `can_see_run` and `get_visible_runs_or_none_for_all`."""


CLOSED = AccessNeeds("admin")
_SAID = "temper_needs"


def _declare_access_needs(needs: AccessNeeds) -> Callable[[E], E]:
    def attach_access_needs(endpoint: E) -> E:
        setattr(endpoint, _SAID, needs)
        return endpoint

    return attach_access_needs


everybody = _declare_access_needs(AccessNeeds(None))
guests = _declare_access_needs(AccessNeeds("viewer", links=True))
viewers = _declare_access_needs(AccessNeeds("viewer"))
operators = _declare_access_needs(AccessNeeds("operator"))
admins = _declare_access_needs(AccessNeeds("admin"))


def find_access_needs(endpoint: Any) -> AccessNeeds | None:
    found: AccessNeeds | None = getattr(endpoint, _SAID, None)
    return found


def get_name_to_record(name_in_request: str) -> str:
    """Return the name to record: the signed-in person's, else the name given in the request."""
    person = WHO.get()
    return name_in_request if person is None or person.via == "demo" else person.name


def get_callers_sign_in_method() -> str:
    person = WHO.get()
    return person.via if person else ""


def get_token_id() -> str:
    """Return the id of the current request's API token, or an empty string."""
    person = WHO.get()
    return person.credential if person and person.via == "token" else ""


def list_others_who_made_current_token() -> tuple[str, ...]:
    """Return who made the current request's token, the first one first; empty if its owner did."""
    person = WHO.get()
    return person.made_by if person and person.via == "token" else ()


def build_creator_chain_for_new_credential() -> tuple[str, ...]:
    """Return the chain of makers for a credential that the current request makes. A name has no space."""
    person = WHO.get() or DEMO
    return tuple(dict.fromkeys((*person.made_by, person.name.replace(" ", "-"))))


def parse_right(word: str) -> Right:
    for right in RIGHTS:
        if right == word:
            return right
    raise BadInput(f"{word!r} is not a right: choose one of {', '.join(RIGHTS)}.")


def has_right(right: Right, needed: Right) -> bool:
    return RIGHTS.index(right) >= RIGHTS.index(needed)


def can_read_prompts() -> bool:
    """Return True if the person may read prompts. They contain host data, so this needs operator."""
    person = WHO.get()
    return person is not None and has_right(person.right, "operator")


def is_admitted(needs: AccessNeeds, person: Person | None, run: str | None) -> bool:
    """Return True if `person` meets `needs`. `run` is the run in the route's path, if any."""
    if needs.right is None:
        return True
    if person is None or not has_right(person.right, needs.right):
        return False
    return person.runs is None or (needs.links and (run is None or run in person.runs))


def get_visible_runs_or_none_for_all() -> tuple[str, ...] | None:
    """Return the runs that the current request may see, or None for all."""
    person = WHO.get()
    return None if person is None else person.runs


def can_see_run(run: str) -> bool:
    shown = get_visible_runs_or_none_for_all()
    return shown is None or run in shown
