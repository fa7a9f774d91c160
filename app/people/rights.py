"""The three rights, and which one every address asks for. What nobody has thought of asks for the highest."""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

Right = Literal["viewer", "operator", "admin"]
Via = Literal["demo", "session", "token", "link"]
RIGHTS: tuple[Right, ...] = get_args(Right)

READING = ("GET", "HEAD", "OPTIONS")
_RUN = r"[^/]+"


@dataclass(frozen=True)
class Person:
    name: str
    right: Right
    via: Via
    credential: str = ""
    """Id of the session, token or link; empty for the demo operator."""


DEMO = Person("demo operator", "admin", "demo")
"""Everybody, on loopback, until people have names."""

WHO: ContextVar[Person | None] = ContextVar("who", default=None)
"""Who the present request is from."""


def signed(said: str) -> str:
    """The name that goes on record: the person's own, or what a nameless one says of itself."""
    person = WHO.get()
    return said if person is None or person.via == "demo" else person.name


def may(right: Right, needed: Right) -> bool:
    return RIGHTS.index(right) >= RIGHTS.index(needed)


def reads_prompts() -> bool:
    """What roles were told of a host is for whoever works with it; who only looks sees that they were told."""
    person = WHO.get()
    return person is not None and may(person.right, "operator")


def needed(method: str, path: str) -> Right | None:
    """None: open to all."""
    for methods, pattern, right in _RULES:
        if method in methods and pattern.fullmatch(path):
            return right
    return "viewer" if method in READING else "admin"


def _rule(
    methods: tuple[str, ...], pattern: str, right: Right | None
) -> tuple[tuple[str, ...], re.Pattern[str], Right | None]:
    return methods, re.compile(pattern), right


_RULES = (
    _rule(READING, r"/static/.*|/healthz|/readyz|/problems/.*|/sign-in(/oidc.*)?|/share/.*", None),
    _rule(("POST",), r"/sign-in", None),
    _rule(("POST",), r"/sign-out", "viewer"),
    _rule(READING, r"/people.*|/audit.*|/api/v1/(people|tokens|audit|webhooks)(/.*)?", "admin"),
    _rule(("POST",), rf"/runs|/runs/{_RUN}/ask|/runs/import|/ops/engines.*|/lineup.*|/probes", "operator"),
    _rule(("POST",), rf"/api/v1/runs|/api/v1/runs/{_RUN}/(pause|resume|stop)|/api/v1/approvals/{_RUN}", "operator"),
    _rule(("POST",), rf"/api/v1/hosts/{_RUN}/scan|/api/v1/engines/{_RUN}/(start|stop)|/api/v1/probes", "operator"),
    _rule(("POST",), rf"/schedules.*|/api/v1/schedules(/{_RUN}/{_RUN})?", "operator"),
    _rule(("DELETE",), rf"/api/v1/schedules/{_RUN}", "operator"),
    _rule(("POST",), r"/api/v1/links", "operator"),
    _rule(READING, rf"/api/v1/runs/{_RUN}/evidence\.zip", "operator"),
)
