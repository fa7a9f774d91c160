"""The plan of action and milestones with the columns of eMASS' import template."""

import csv
import io

from app.evidence.checklist_status import to_checklist_status
from app.evidence.poam import escape_cell
from app.evidence.rule_text import describe_actions_taken, describe_finding
from app.evidence.run_record import RuleRecord, RunRecord
from app.text.clean import clean_text

COLUMNS = (
    "POA&M Item ID",
    "Control Vulnerability Description",
    "Security Control Number (NC/NA controls only)",
    "Office/Org",
    "Security Checks",
    "Resources Required",
    "Scheduled Completion Date",
    "Milestone with Completion Dates",
    "Milestone Changes",
    "Source Identifying Vulnerability",
    "Status",
    "Comments",
    "Raw Severity",
    "Devices Affected",
    "Mitigations (in-house and in conjunction with the Navy CSSP)",
    "Predisposing Conditions",
    "Severity",
    "Relevance of Threat",
    "Threat Description",
    "Likelihood",
    "Impact",
    "Impact Description",
    "Residual Risk Level",
    "Recommendations",
    "Resulting Residual Risk after Proposed Mitigations",
)
LONGEST = 2000
"""Most characters that eMASS accepts in one field."""


def build_emass_poam(case: RunRecord) -> bytes:
    """Return the plan as CSV. Columns that people must decide, such as owner and date, stay empty."""
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for one in case.requested_rules:
        if to_checklist_status(one.closing) not in ("not_a_finding", "not_applicable"):
            said = _build_emass_row(case, one)
            rows.writerow(escape_cell(clean_text(said.get(name, ""), LONGEST)) for name in COLUMNS)
    return table.getvalue().encode("utf-8-sig", "replace")


def _build_emass_row(case: RunRecord, one: RuleRecord) -> dict[str, str]:
    named = one.named
    return {
        "Control Vulnerability Description": f"{named.title}\n\n{named.discussion}",
        "Security Checks": "\n".join((named.id, named.group, *named.ccis)),
        "Source Identifying Vulnerability": case.published.reference,
        "Status": "Risk Accepted" if one.waiver else "Ongoing",
        "Comments": f"{describe_actions_taken(case, one)}\n{describe_finding(case, one)}",
        "Raw Severity": one.rule.category,
        "Devices Affected": case.request.host,
        "Recommendations": named.fix,
    }
