"""The Jinja environment of the pages, and HTML responses that allow only the page's own scripts."""

import functools
import json
import secrets
from datetime import UTC, datetime
from typing import Any

import msgspec
from jinja2 import Environment
from starlette.responses import HTMLResponse

from app.config import PACKAGE
from app.events.record import format_timestamp
from app.people.rights import WHO
from app.text.clean import clean_text
from app.text.glossary import load_glossary
from app.text.jinja_environment import create_environment
from app.text.pluralized_counts import count_things
from app.web.pages.appearance_cookie import get_appearance, hash_name_of_signed_in_person
from app.web.pages.diff import parse_diff_rows
from app.web.pages.header_badges import count_inbox, read_badge_text_of_worst_fault
from app.web.url_paths import path_to, path_to_unversioned_static_file

POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; worker-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
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
def get_environment() -> Environment:
    made = create_environment(PACKAGE / "templates")
    made.filters.update(
        plain=clean_page_text,
        clock=format_clock,
        instant=format_timestamp,
        day=format_day_and_time,
        span=format_span_with_colons,
        fixed=format_with_fixed_decimals,
        percent=format_percent_number,
        diff=parse_diff_rows,
        as_json=format_indented_json,
        counted=count_things,
    )
    made.globals.update(
        OUTCOMES=OUTCOMES,
        GLOSSARY=load_glossary(),
        who=WHO.get,
        path_to=path_to,
        static=path_to_unversioned_static_file,
    )
    made.globals.update(count_inbox=count_inbox, read_badge_text_of_worst_fault=read_badge_text_of_worst_fault)
    made.globals.update(looks=get_appearance, reader=hash_name_of_signed_in_person)
    return made


def render_template_to_text(template: str, **context: Any) -> str:
    return get_environment().get_template(template).render(**context)


def render_page(template: str, *, here: str = "", status: int = 200, **context: Any) -> HTMLResponse:
    """Return a page under a content security policy with its own nonce. `here` marks the page in the navigation."""
    nonce = secrets.token_urlsafe(16)
    headers = {
        "content-security-policy": POLICY.format(nonce=nonce),
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return HTMLResponse(render_template_to_text(template, nonce=nonce, here=here, **context), status, headers)


def clean_page_text(text: str) -> str:
    """Strip control and invisible characters from model and host text, and limit its length."""
    return clean_text(text, TEXT_LIMIT)


def format_indented_json(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), indent=1, ensure_ascii=True)


def format_clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def format_day_and_time(at: float | None) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if at else "—"


def format_span_with_colons(seconds: float | None) -> str:
    if seconds is None:
        return "—"
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"


def format_percent_number(share: float | None) -> str:
    return "—" if share is None else f"{100 * share:.0f}"


def format_with_fixed_decimals(value: float | None, decimals: int = 1) -> str:
    return "—" if value is None else f"{value:.{decimals}f}"
