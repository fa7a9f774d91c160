"""The report: one self-contained HTML page without scripts."""

import functools
from dataclasses import dataclass

import msgspec
from jinja2 import Environment

from app.config import PACKAGE
from app.events.record import stamp
from app.evidence.account import answered, outcome, said_by
from app.evidence.case import Case
from app.evidence.status import SEVERITY, Status, status
from app.loop.telling import telling
from app.text.clean import clean
from app.text.escaping import escaping

_LONGEST = 50_000
SHOWN: dict[Status, str] = {
    "not_a_finding": "not a finding",
    "open": "open",
    "not_applicable": "not applicable",
    "not_reviewed": "not reviewed",
}


@dataclass(frozen=True)
class DiffLine:
    kind: str
    """added, removed, or empty."""
    text: str


def report(case: Case) -> bytes:
    counts = dict.fromkeys(SHOWN, 0)
    for one in case.asked:
        counts[status(one.closing)] += 1
    page = _environment().get_template("report.html")
    text = page.render(case=case, counts=counts, published=case.published, SHOWN=SHOWN, SEVERITY=SEVERITY)
    return text.encode("utf-8", "replace")


@functools.cache
def _environment() -> Environment:
    made = escaping(PACKAGE / "templates")
    made.filters.update(plain=_plain, at=stamp, diff=diff_lines, written=_written)
    made.globals.update(status=status, outcome=outcome, telling=telling, said_by=said_by, answered=answered)
    return made


def diff_lines(diff: str) -> list[DiffLine]:
    return [_line(line) for line in _plain(diff).splitlines()]


def _line(line: str) -> DiffLine:
    is_name = line.startswith(("+++ ", "--- "))
    kind = "" if is_name else {"+": "added", "-": "removed"}.get(line[:1], "")
    return DiffLine(kind, line)


def _plain(text: str) -> str:
    return clean(text, _LONGEST)


def _written(action: msgspec.Struct) -> str:
    """Format an action, as in `set_option path=/etc/x key=UMASK value=077`."""
    fields = msgspec.to_builtins(action)
    name = fields.pop("do")
    return _plain(" ".join([name, *(f"{field}={value}" for field, value in fields.items())]))
