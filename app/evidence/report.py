"""The report: one self-contained HTML page without scripts."""

import functools
from dataclasses import dataclass

import msgspec
from jinja2 import Environment

from app.config import PACKAGE
from app.events.record import format_timestamp
from app.evidence.checklist_status import SEVERITY, Status, to_checklist_status
from app.evidence.rule_text import describe_answer, describe_outcome, format_verdict
from app.evidence.run_record import RunRecord
from app.text.clean import clean_text
from app.text.jinja_environment import create_environment

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


def build_report(case: RunRecord) -> bytes:
    counts = dict.fromkeys(SHOWN, 0)
    for one in case.requested_rules:
        counts[to_checklist_status(one.closing)] += 1
    page = _create_environment().get_template("report.html")
    text = page.render(case=case, counts=counts, published=case.published, SHOWN=SHOWN, SEVERITY=SEVERITY)
    return text.encode("utf-8", "replace")


@functools.cache
def _create_environment() -> Environment:
    made = create_environment(PACKAGE / "templates")
    made.filters.update(plain=_clean_report_text, at=format_timestamp, diff=parse_diff_lines, written=_format_action)
    made.globals.update(
        status=to_checklist_status,
        outcome=describe_outcome,
        said_by=format_verdict,
        answered=describe_answer,
    )
    return made


def parse_diff_lines(diff: str) -> list[DiffLine]:
    return [_parse_diff_line(line) for line in _clean_report_text(diff).splitlines()]


def _parse_diff_line(line: str) -> DiffLine:
    is_name = line.startswith(("+++ ", "--- "))
    kind = "" if is_name else {"+": "added", "-": "removed"}.get(line[:1], "")
    return DiffLine(kind, line)


def _clean_report_text(text: str) -> str:
    return clean_text(text, _LONGEST)


def _format_action(action: msgspec.Struct) -> str:
    """Format an action, as in `set_option path=/etc/x key=UMASK value=077`."""
    fields = msgspec.to_builtins(action)
    name = fields.pop("do")
    return _clean_report_text(" ".join([name, *(f"{field}={value}" for field, value in fields.items())]))
