"""The checklist for STIG Viewer 2: CKL, XML with a fixed order of elements."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from app.evidence.finding_text import describe_actions_taken, describe_scanner_verdicts
from app.evidence.published_benchmark_names import BenchmarkTitle
from app.evidence.run_record import RuleRecord, RunRecord, Status
from app.evidence.xml_and_json_writing import add_element, serialize_document

CKL_STATUS: dict[Status, str] = {
    "not_reviewed": "Not_Reviewed",
    "not_applicable": "Not_Applicable",
    "open": "Open",
    "not_a_finding": "NotAFinding",
}


def build_ckl(case: RunRecord) -> bytes:
    published = case.published
    root = ET.Element("CHECKLIST")
    asset = add_element(root, "ASSET")
    for tag, text in _list_asset_fields(case):
        add_element(asset, tag, text)
    stig = add_element(add_element(root, "STIGS"), "iSTIG")
    info = add_element(stig, "STIG_INFO")
    for name, text in _list_stig_info(case, published):
        _add_element_with_children(info, "SI_DATA", ("SID_NAME", name), ("SID_DATA", text))
    for one in case.judged:
        _fill_vuln(add_element(stig, "VULN"), case, published, one)
    return serialize_document(root)


def _add_element_with_children(parent: ET.Element, tag: str, *pair: tuple[str, str]) -> None:
    held = add_element(parent, tag)
    for name, text in pair:
        add_element(held, name, text)


def _list_asset_fields(case: RunRecord) -> list[tuple[str, str]]:
    return [
        ("ROLE", "None"),
        ("ASSET_TYPE", "Computing"),
        ("MARKING", ""),
        ("HOST_NAME", case.request.host),
        ("HOST_IP", ""),
        ("HOST_MAC", ""),
        ("HOST_FQDN", ""),
        ("TARGET_COMMENT", case.comment),
        ("TECH_AREA", ""),
        ("TARGET_KEY", ""),
        ("WEB_OR_DATABASE", "false"),
        ("WEB_DB_SITE", ""),
        ("WEB_DB_INSTANCE", ""),
    ]


def _list_stig_info(case: RunRecord, benchmark_title: BenchmarkTitle) -> list[tuple[str, str]]:
    return [
        ("version", benchmark_title.version),
        ("classification", "UNCLASSIFIED"),
        ("customname", ""),
        ("stigid", benchmark_title.id),
        ("description", ""),
        ("filename", ""),
        ("releaseinfo", benchmark_title.release),
        ("title", benchmark_title.title),
        ("uuid", case.create_uuid(benchmark_title.id)),
        ("notice", ""),
        ("source", "Temper"),
    ]


def _fill_vuln(vuln: ET.Element, case: RunRecord, benchmark_title: BenchmarkTitle, rule_record: RuleRecord) -> None:
    for name, text in _iterate_vuln_attributes(benchmark_title, rule_record):
        _add_element_with_children(vuln, "STIG_DATA", ("VULN_ATTRIBUTE", name), ("ATTRIBUTE_DATA", text))
    add_element(vuln, "STATUS", CKL_STATUS[rule_record.status])
    add_element(vuln, "FINDING_DETAILS", describe_scanner_verdicts(case, rule_record))
    add_element(vuln, "COMMENTS", describe_actions_taken(case, rule_record))
    add_element(vuln, "SEVERITY_OVERRIDE")
    add_element(vuln, "SEVERITY_JUSTIFICATION")


def _iterate_vuln_attributes(benchmark_title: BenchmarkTitle, rule_record: RuleRecord) -> Iterator[tuple[str, str]]:
    rule = rule_record.named
    yield "Vuln_Num", rule.group
    yield "Severity", rule_record.severity
    yield "Group_Title", rule.group_title
    yield "Rule_ID", rule.id
    yield "Rule_Ver", rule.stig_id
    yield "Rule_Title", rule.title
    yield "Vuln_Discuss", rule.discussion
    yield "IA_Controls", ""
    yield "Check_Content", rule.check
    yield "Fix_Text", rule.fix
    for name in ("False_Positives", "False_Negatives"):
        yield name, ""
    yield "Documentable", "false"
    for name in ("Mitigations", "Potential_Impact", "Third_Party_Tools", "Mitigation_Control", "Responsibility"):
        yield name, ""
    yield "Security_Override_Guidance", ""
    yield "Check_Content_Ref", "M"
    yield "Weight", "10.0"
    yield "Class", "Unclass"
    yield "STIGRef", benchmark_title.reference
    yield "TargetKey", ""
    yield "STIG_UUID", ""
    yield "LEGACY_ID", ""
    for cci in rule.ccis or ("",):
        yield "CCI_REF", cci
