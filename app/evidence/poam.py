"""The plan of action and milestones: open rules, with owner and dates left for people to fill in.

The same plan has the columns of eMASS' import template, too.
"""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.events.record import format_timestamp
from app.evidence.finding_text import describe_actions_taken, describe_outcome, describe_scanner_verdicts
from app.evidence.run_record import RuleRecord, RunRecord
from app.evidence.xml_and_json_writing import encode_json
from app.text.clean import clean_text

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%", "＝", "＋", "－", "＠")
EMASS_COLUMNS = msgspec.toml.decode(
    Path(__file__).with_name("emass_columns.toml").read_bytes(), type=dict[str, tuple[str, ...]]
)["columns"]
EMASS_LONGEST = 2000
"""Most characters that eMASS accepts in one field."""


COLUMNS = (
    *("rule", "rule_id", "stig_id", "ccis", "severity", "weakness", "host", "checklist_status", "status"),
    *("identified", "source", "evidence", "why_open", "tried", "remedy", "risk_of_remedy"),
    *("scheduled_completion", "responsible", "milestones"),
)
"""The last three are for people to fill in."""


def build_temper_poam_json(case: RunRecord) -> bytes:
    plan = {
        "run": case.run,
        "host": case.request.host,
        "as_of": format_timestamp(case.state.at),
        "simulated": case.simulated,
        "benchmark": case.published.note,
        "chain_head": case.head,
        "items": [_build_poam_entry(case, one) for one in case.failed_or_unclear_rules_even_if_waived],
    }
    return encode_json(plan)


def build_poam_csv(case: RunRecord) -> bytes:
    return _encode_csv(
        COLUMNS, (_build_poam_entry(case, one).values() for one in case.failed_or_unclear_rules_even_if_waived)
    )


def build_emass_poam_csv(case: RunRecord) -> bytes:
    """Return the plan as CSV. Columns that people must decide, such as owner and date, stay empty."""
    rows = (_build_emass_row(case, one) for one in case.failed_or_unclear_rules_even_if_waived)
    return _encode_csv(
        EMASS_COLUMNS, ([clean_text(row.get(name, ""), EMASS_LONGEST) for name in EMASS_COLUMNS] for row in rows)
    )


def _encode_csv(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> bytes:
    return format_csv(columns, rows).encode("utf-8-sig", "replace")


def format_csv(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return the rows as CSV in which no cell is a spreadsheet formula."""
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(map(escape_cell, row) for row in rows)
    return table.getvalue()


def escape_cell(value: str) -> str:
    """Prefix a quote if a spreadsheet would read the cell as a formula, leading blanks included."""
    return f"'{value}" if value.lstrip(" \n").startswith(_FORMULA) or value.startswith(_FORMULA) else value


def _build_poam_entry(case: RunRecord, rule_record: RuleRecord) -> dict[str, str]:
    verdict = rule_record.closing or rule_record.opening
    return dict.fromkeys(COLUMNS, "") | {
        "rule": rule_record.named.group,
        "rule_id": rule_record.named.id,
        "stig_id": rule_record.named.stig_id,
        "ccis": " ".join(rule_record.named.ccis),
        "severity": rule_record.severity,
        "weakness": rule_record.named.title,
        "host": case.request.host,
        "checklist_status": rule_record.status,
        "status": "Risk Accepted" if rule_record.waiver else "Ongoing",
        "identified": format_timestamp(case.queued_at),
        "source": verdict.scanner if verdict else "",
        "evidence": describe_scanner_verdicts(case, rule_record),
        "why_open": describe_outcome(case, rule_record),
        "tried": describe_actions_taken(case, rule_record),
        "remedy": rule_record.named.fix,
        "risk_of_remedy": rule_record.rule.breaks,
    }


def _build_emass_row(case: RunRecord, rule_record: RuleRecord) -> dict[str, str]:
    named = rule_record.named
    return {
        "Control Vulnerability Description": f"{named.title}\n\n{named.discussion}",
        "Security Checks": "\n".join((named.id, named.group, *named.ccis)),
        "Source Identifying Vulnerability": case.published.reference,
        "Status": "Risk Accepted" if rule_record.waiver else "Ongoing",
        "Comments": f"{describe_actions_taken(case, rule_record)}\n{describe_scanner_verdicts(case, rule_record)}",
        "Raw Severity": rule_record.rule.category,
        "Devices Affected": case.request.host,
        "Recommendations": named.fix,
    }
