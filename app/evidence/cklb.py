"""The checklist for STIG Viewer 3: CKLB 1.0, JSON with the fields in the viewer's order."""

from typing import Any

from app.evidence.finding_text import describe_actions_taken, describe_scanner_verdicts
from app.evidence.published_benchmark_names import BenchmarkTitle
from app.evidence.run_record import RuleRecord, RunRecord
from app.evidence.xml_and_json_writing import encode_json

_EMPTY = (
    *("false_positives", "false_negatives", "security_override_guidance", "potential_impacts", "third_party_tools"),
    *("ia_controls", "responsibility", "mitigations", "mitigation_control"),
)


def build_cklb(case: RunRecord) -> bytes:
    published = case.published
    stig = {
        "stig_name": published.title,
        "display_name": published.display,
        "stig_id": published.id,
        "release_info": published.release,
        "version": published.version,
        "uuid": case.create_uuid(published.id),
        "reference_identifier": "",
        "size": len(case.judged),
        "rules": [_build_cklb_rule(case, published, one) for one in case.judged],
    }
    document = {
        "title": f"{case.request.host} {published.display}",
        "id": case.create_uuid("checklist"),
        "stigs": [stig],
        "active": True,
        "mode": 2,
        "has_path": False,
        "target_data": _build_target_with_host_name_only(case),
        "cklb_version": "1.0",
    }
    return encode_json(document)


def _build_target_with_host_name_only(case: RunRecord) -> dict[str, Any]:
    return {
        "target_type": "Computing",
        "host_name": case.request.host,
        "ip_address": "",
        "mac_address": "",
        "fqdn": "",
        "comments": case.comment,
        "role": "None",
        "is_web_database": False,
        "technology_area": "",
        "web_db_site": "",
        "web_db_instance": "",
        "classification": None,
    }


def _build_cklb_rule(case: RunRecord, benchmark_title: BenchmarkTitle, rule_record: RuleRecord) -> dict[str, Any]:
    rule = rule_record.named
    return {
        "group_id_src": rule.group,
        "group_tree": [{"id": rule.group, "title": rule.group_title, "description": ""}],
        "group_id": rule.group,
        "severity": rule_record.severity,
        "group_title": rule.group_title,
        "rule_id_src": rule.id,
        "rule_id": rule.id.removesuffix("_rule"),
        "rule_version": rule.stig_id,
        "rule_title": rule.title,
        "fix_text": rule.fix,
        "weight": "10.0",
        "check_content": rule.check,
        "check_content_ref": {"href": f"{benchmark_title.id}.xml", "name": "M"},
        "classification": "Unclassified",
        "discussion": rule.discussion,
        "documentable": "false",
        **dict.fromkeys(_EMPTY, ""),
        "legacy_ids": [],
        "ccis": list(rule.ccis),
        "reference_identifier": "",
        "uuid": case.create_uuid(rule_record.rule.id),
        "stig_uuid": case.create_uuid(benchmark_title.id),
        "status": rule_record.status,
        "overrides": {},
        "comments": describe_actions_taken(case, rule_record),
        "finding_details": describe_scanner_verdicts(case, rule_record),
    }
