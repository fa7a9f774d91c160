"""The report: one self-contained HTML page without scripts."""

import functools
from dataclasses import dataclass

import msgspec
from jinja2 import Environment

from app.config import PACKAGE
from app.events.record import format_timestamp
from app.evidence.finding_text import describe_approval_answer, describe_outcome, format_scanner_verdict
from app.evidence.run_record import RunRecord, Status
from app.text.clean import clean_text
from app.text.diff_file_header_detection import mark_file_headers
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
        counts[one.status] += 1
    page = _create_environment().get_template("report.html")
    text = page.render(case=case, counts=counts, published=case.published, SHOWN=SHOWN)
    return text.encode("utf-8", "replace")


@functools.cache
def _create_environment() -> Environment:
    made = create_environment(PACKAGE / "templates")
    made.filters.update(plain=_clean_report_text, at=format_timestamp, diff=parse_diff_lines, written=_format_action)
    made.globals.update(outcome=describe_outcome, said_by=format_scanner_verdict, answered=describe_approval_answer)
    return made


def parse_diff_lines(diff: str) -> list[DiffLine]:
    kinds = {"+": "added", "-": "removed"}
    marked = mark_file_headers(_clean_report_text(diff).splitlines())
    return [DiffLine("" if is_header else kinds.get(line[:1], ""), line) for line, is_header in marked]


def _clean_report_text(text: str) -> str:
    return clean_text(text, _LONGEST)


def _format_action(action: msgspec.Struct) -> str:
    """Format an action, as in `set_option path=/etc/x key=UMASK value=077`."""
    fields = msgspec.to_builtins(action)
    name = fields.pop("do")
    return _clean_report_text(" ".join([name, *(f"{field}={value}" for field, value in fields.items())]))
