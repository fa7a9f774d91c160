"""The plan of action and milestones: open rules, with owner and dates left for people to fill in."""

import csv
import io
import json
from dataclasses import asdict, dataclass, fields

from app.events.record import stamp
from app.evidence.account import done, found, outcome
from app.evidence.case import Case, Judged
from app.evidence.status import SEVERITY, status

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


def entries(case: Case) -> list[PoamEntry]:
    """Return an entry for every requested rule that is not known to hold."""
    return [_entry(case, one) for one in case.asked if status(one.closing) not in _DONE]


def poam_json(case: Case) -> bytes:
    plan = {
        "run": case.run,
        "host": case.request.host,
        "as_of": stamp(case.state.at),
        "simulated": case.simulated,
        "benchmark": case.published.told,
        "chain_head": case.head,
        "items": [asdict(entry) for entry in entries(case)],
    }
    return json.dumps(plan, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def poam_csv(case: Case) -> bytes:
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\r\n")
    rows.writerow(field.name for field in fields(PoamEntry))
    for entry in entries(case):
        rows.writerow(cell(value) for value in asdict(entry).values())
    return table.getvalue().encode("utf-8-sig", "replace")


def cell(value: str) -> str:
    """Prefix a quote if a spreadsheet would read the cell as a formula, leading blanks included."""
    return f"'{value}" if value.lstrip(" \n").startswith(_FORMULA) or value.startswith(_FORMULA) else value


def _entry(case: Case, one: Judged) -> PoamEntry:
    rule, verdict = one.rule, one.closing or one.opening
    return PoamEntry(
        rule=one.named.group,
        rule_id=one.named.id,
        stig_id=one.named.stig_id,
        ccis=" ".join(one.named.ccis),
        severity=SEVERITY[rule.category],
        weakness=one.named.title,
        host=case.request.host,
        checklist_status=status(one.closing),
        status="Risk Accepted" if one.waiver else "Ongoing",
        identified=stamp(case.queued_at),
        source=verdict.scanner if verdict else "",
        evidence=found(case, one),
        why_open=outcome(case, one),
        tried=done(case, one),
        remedy=one.named.fix,
        risk_of_remedy=rule.breaks,
    )
