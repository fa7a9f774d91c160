"""The Jinja environment of the pages and its filters."""

import functools
import json
from datetime import UTC, datetime
from typing import Any

import msgspec
from jinja2 import Environment

from app.config import PACKAGE
from app.events.record import stamp
from app.people.rights import WHO
from app.text.clean import clean
from app.text.escaping import escaping
from app.text.glossary import glossary
from app.web.addresses import path_to, static
from app.web.pages.diff import diff_rows

TEXT_LIMIT = 20_000
OUTCOMES = {
    "passed": "✓",
    "escalated": "▲",
    "skipped": "–",
    "deferred": "◷",
    "waived": "○",
    "working": "●",
    "waiting": "·",
}


@functools.cache
def environment() -> Environment:
    made = escaping(PACKAGE / "templates")
    made.filters.update(
        plain=plain, clock=clock, instant=stamp, day=day, span=span, fixed=fixed, diff=diff_rows, as_json=as_json
    )
    made.globals.update(OUTCOMES=OUTCOMES, GLOSSARY=glossary(), who=WHO.get, path_to=path_to, static=static)
    return made


def rendered(template: str, **context: Any) -> str:
    return environment().get_template(template).render(**context)


def plain(text: str) -> str:
    """Strip control and invisible characters from model and host text, and limit its length."""
    return clean(text, TEXT_LIMIT)


def as_json(actions: Any) -> str:
    return json.dumps(msgspec.to_builtins(actions), indent=1, ensure_ascii=True)


def clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def day(at: float | None) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if at else "—"


def span(seconds: float | None) -> str:
    if seconds is None:
        return "—"
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"


def fixed(value: float | None, digits: int = 1) -> str:
    return "—" if value is None else f"{value:.{digits}f}"
