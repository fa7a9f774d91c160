"""The plan of action and milestones: open rules, with owner and dates left for people to fill in."""

import csv
import io
import json
from dataclasses import asdict, dataclass, fields

from app.events.record import format_timestamp
from app.evidence.checklist_status import SEVERITY, to_checklist_status
from app.evidence.rule_text import describe_actions_taken, describe_finding, describe_outcome
from app.evidence.run_record import RuleRecord, RunRecord

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%", "＝", "＋", "－", "＠")
_DONE = ("not_a_finding", "not_applicable")


@dataclass(frozen=True)
class PoamEntry:
    rule: str
    rule_id: str
    stig_id: str
    ccis: str
    severity: str
    weakness: str
    host: str
    checklist_status: str
    status: str
    identified: str
    source: str
    evidence: str
    why_open: str
    tried: str
    remedy: str
    risk_of_remedy: str
    scheduled_completion: str = ""
    responsible: str = ""
    milestones: str = ""


def list_poam_entries(case: RunRecord) -> list[PoamEntry]:
    """Return an entry for every requested rule that is not known to hold."""
    return [
        _build_poam_entry(case, one) for one in case.requested_rules if to_checklist_status(one.closing) not in _DONE
    ]


def build_poam_json(case: RunRecord) -> bytes:
    plan = {
        "run": case.run,
        "host": case.request.host,
        "as_of": format_timestamp(case.state.at),
        "simulated": case.simulated,
        "benchmark": case.published.told,
        "chain_head": case.head,
        "items": [asdict(entry) for entry in list_poam_entries(case)],
    }
    return json.dumps(plan, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def build_poam_csv(case: RunRecord) -> bytes:
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\r\n")
    rows.writerow(field.name for field in fields(PoamEntry))
    for entry in list_poam_entries(case):
        rows.writerow(escape_cell(value) for value in asdict(entry).values())
    return table.getvalue().encode("utf-8-sig", "replace")


def escape_cell(value: str) -> str:
    """Prefix a quote if a spreadsheet would read the cell as a formula, leading blanks included."""
    return f"'{value}" if value.lstrip(" \n").startswith(_FORMULA) or value.startswith(_FORMULA) else value


def _build_poam_entry(case: RunRecord, one: RuleRecord) -> PoamEntry:
    rule, verdict = one.rule, one.closing or one.opening
    return PoamEntry(
        rule=one.named.group,
        rule_id=one.named.id,
        stig_id=one.named.stig_id,
        ccis=" ".join(one.named.ccis),
        severity=SEVERITY[rule.category],
        weakness=one.named.title,
        host=case.request.host,
        checklist_status=to_checklist_status(one.closing),
        status="Risk Accepted" if one.waiver else "Ongoing",
        identified=format_timestamp(case.queued_at),
        source=verdict.scanner if verdict else "",
        evidence=describe_finding(case, one),
        why_open=describe_outcome(case, one),
        tried=describe_actions_taken(case, one),
        remedy=one.named.fix,
        risk_of_remedy=rule.breaks,
    )
