"""OSCAL 1.1 papers: assessment results, and a plan of action and milestones."""

from typing import Any

from app.events.record import format_timestamp
from app.evidence.finding_text import describe_actions_taken, describe_scanner_verdicts
from app.evidence.run_record import DONE, RuleRecord, RunRecord
from app.evidence.xccdf_and_arf import build_rule_idref
from app.evidence.xml_and_json_writing import encode_json
from app.text.clean import clean_line, clean_text

VERSION = "1.1.3"
NS = "urn:temper:oscal"
JsonObject = dict[str, Any]
_LONGEST = 50_000


def build_oscal_results(case: RunRecord) -> bytes:
    """Return the assessment results: observation and finding of the last scan for each requested rule."""
    result = {
        "uuid": _create_uuid(case, "result"),
        "title": f"Temper run {case.run}",
        "description": _clean_required_prose(case.published.note),
        "start": format_timestamp(case.state.started_at or case.queued_at),
        "end": format_timestamp(case.scanned_at),
        "local-definitions": {"inventory-items": [_build_inventory_item(case)]},
        "reviewed-controls": {"control-selections": [{"include-all": {}}]},
        "observations": [_build_observation(case, one) for one in case.requested_rules],
        "findings": [_build_finding(case, one) for one in case.requested_rules],
    }
    if left := case.failed_or_unclear_rules_even_if_waived:
        result["risks"] = [_build_risk(case, one) for one in left]
    plan = {"uuid": _create_uuid(case, "plan"), "description": f"The order of Temper run {case.run}: see events.jsonl."}
    results = {
        "uuid": _create_uuid(case, "results"),
        "metadata": _build_metadata(case, f"Assessment results of {case.request.host}"),
        "import-ap": {"href": f"#{plan['uuid']}"},
        "results": [result],
        "back-matter": {"resources": [plan]},
    }
    return encode_json({"assessment-results": results})


def build_oscal_poam(case: RunRecord) -> bytes:
    """Return the plan of the open rules. OSCAL requires an item, so an empty plan has one that says so."""
    left = case.failed_or_unclear_rules_even_if_waived
    plan: JsonObject = {
        "uuid": _create_uuid(case, "poam"),
        "metadata": _build_metadata(case, f"Plan of action and milestones of {case.request.host}"),
        "system-id": {"identifier-type": NS, "id": _clean_required_line(case.request.host)},
        "local-definitions": {"inventory-items": [_build_inventory_item(case)]},
    }
    if left:
        plan["observations"] = [_build_observation(case, one) for one in left]
        plan["risks"] = [_build_risk(case, one) for one in left]
        plan["poam-items"] = [_build_poam_item(case, one) for one in left]
    else:
        nothing = f"Every rule that run {case.run} was asked for holds or does not apply."
        item = {"uuid": _create_uuid(case, "nothing"), "title": "Nothing is left to do", "description": nothing}
        plan["poam-items"] = [item]
    return encode_json({"plan-of-action-and-milestones": plan})


def _build_metadata(case: RunRecord, title: str) -> JsonObject:
    return {
        "title": clean_line(title, 300),
        "last-modified": format_timestamp(case.state.at),
        "version": case.run,
        "oscal-version": VERSION,
        "props": [_build_prop("run", case.run), _build_prop("chain-head", case.head)],
        "remarks": _clean_required_prose(case.comment),
    }


def _build_inventory_item(case: RunRecord) -> JsonObject:
    return {
        "uuid": _create_uuid(case, "host"),
        "description": _clean_required_prose(case.request.host),
        "props": [{"name": "asset-id", "value": _clean_required_line(case.request.host)}],
    }


def _build_observation(case: RunRecord, rule_record: RuleRecord) -> JsonObject:
    return {
        "uuid": _create_uuid(case, f"seen {rule_record.rule.id}"),
        "title": _clean_required_line(rule_record.named.id),
        "description": describe_scanner_verdicts(case, rule_record),
        "methods": ["TEST"],
        "subjects": [{"subject-uuid": _create_uuid(case, "host"), "type": "inventory-item"}],
        "collected": format_timestamp(case.scanned_at),
    }


def _build_finding(case: RunRecord, rule_record: RuleRecord) -> JsonObject:
    """Return the finding of a rule. An undecided rule is not satisfied, with the scanner's word as a property."""
    word = rule_record.closing.word if rule_record.closing else "notchecked"
    reason = word if word in ("pass", "fail") else "other"
    state = {"state": "satisfied" if rule_record.status in DONE else "not-satisfied", "reason": reason}
    finding: JsonObject = {
        "uuid": _create_uuid(case, f"finding {rule_record.rule.id}"),
        "title": _clean_required_prose(rule_record.named.title),
        "description": describe_actions_taken(case, rule_record),
        "props": [_build_prop("result", word), *_list_rule_props(rule_record)],
        "target": {"type": "objective-id", "target-id": build_rule_idref(rule_record), "status": state},
        "related-observations": [{"observation-uuid": _create_uuid(case, f"seen {rule_record.rule.id}")}],
    }
    if state["state"] == "not-satisfied":
        finding["related-risks"] = [{"risk-uuid": _create_uuid(case, f"risk {rule_record.rule.id}")}]
    return finding


def _build_risk(case: RunRecord, rule_record: RuleRecord) -> JsonObject:
    waiver = rule_record.waiver
    remediation = {
        "uuid": _create_uuid(case, f"fix {rule_record.rule.id}"),
        "lifecycle": "recommendation",
        "title": "The STIG's fix",
        "description": _clean_required_prose(rule_record.named.fix),
    }
    risk: JsonObject = {
        "uuid": _create_uuid(case, f"risk {rule_record.rule.id}"),
        "title": _clean_required_prose(rule_record.named.title),
        "description": _clean_required_prose(rule_record.named.discussion),
        "statement": describe_actions_taken(case, rule_record),
        "props": [_build_prop("severity", rule_record.severity), *_list_rule_props(rule_record)],
        "status": "deviation-approved" if waiver else "open",
        "remediations": [remediation],
        "related-observations": [{"observation-uuid": _create_uuid(case, f"seen {rule_record.rule.id}")}],
    }
    if waiver:
        entry: JsonObject = {
            "uuid": _create_uuid(case, f"waiver {waiver.id}"),
            "title": f"Waiver {waiver.id}",
            "description": waiver.summary,
            "start": waiver.since,
            "end": f"{waiver.until}T00:00:00Z",
            "status-change": "deviation-approved",
        }
        risk |= {"deadline": f"{waiver.until}T00:00:00Z", "risk-log": {"entries": [entry]}}
    return risk


def _build_poam_item(case: RunRecord, rule_record: RuleRecord) -> JsonObject:
    return {
        "uuid": _create_uuid(case, f"item {rule_record.rule.id}"),
        "title": _clean_required_prose(rule_record.named.title),
        "description": describe_actions_taken(case, rule_record),
        "props": _list_rule_props(rule_record),
        "related-observations": [{"observation-uuid": _create_uuid(case, f"seen {rule_record.rule.id}")}],
        "related-risks": [{"risk-uuid": _create_uuid(case, f"risk {rule_record.rule.id}")}],
    }


def _list_rule_props(rule_record: RuleRecord) -> list[JsonObject]:
    named = rule_record.named
    ids = (("rule-id", named.id), ("group-id", named.group), *(("cci", cci) for cci in named.ccis))
    return [_build_prop(name, value) for name, value in ids]


def _build_prop(name: str, value: str) -> JsonObject:
    return {"name": name, "ns": NS, "value": _clean_required_line(value)}


def _clean_required_line(text: str) -> str:
    """Return text as the single non-empty line that OSCAL strings require."""
    return clean_line(text, 300).strip() or "none"


def _clean_required_prose(text: str) -> str:
    cleaned = clean_text(text, _LONGEST)
    return cleaned if cleaned.strip() else "none"


def _create_uuid(case: RunRecord, name: str) -> str:
    return case.create_uuid(f"oscal {name}")
