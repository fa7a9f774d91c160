"""The checklist for STIG Viewer 2: CKL, XML with a fixed order of elements."""

from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from app.evidence.benchmark import BenchmarkTitle
from app.evidence.checklist_status import CKL_STATUS, SEVERITY
from app.evidence.markup import add_element, serialize_document
from app.evidence.rule_text import describe_actions_taken, describe_finding
from app.evidence.run_record import RuleRecord, RunRecord


def build_ckl(case: RunRecord) -> bytes:
    published = case.published
    root = ET.Element("CHECKLIST")
    asset = add_element(root, "ASSET")
    for tag, text in _list_asset_fields(case):
        add_element(asset, tag, text)
    stig = add_element(add_element(root, "STIGS"), "iSTIG")
    info = add_element(stig, "STIG_INFO")
    for name, text in _list_stig_info(case, published):
        pair = add_element(info, "SI_DATA")
        add_element(pair, "SID_NAME", name)
        add_element(pair, "SID_DATA", text)
    for one in case.judged:
        _fill_vuln(add_element(stig, "VULN"), case, published, one)
    return serialize_document(root)


def _list_asset_fields(case: RunRecord) -> list[tuple[str, str]]:
    played = f"SIMULATED: {case.simulated}. " if case.simulated else ""
    return [
        ("ROLE", "None"),
        ("ASSET_TYPE", "Computing"),
        ("MARKING", ""),
        ("HOST_NAME", case.request.host),
        ("HOST_IP", ""),
        ("HOST_MAC", ""),
        ("HOST_FQDN", ""),
        ("TARGET_COMMENT", f"{played}Temper run {case.run}; chain head {case.head}. {case.published.told}"),
        ("TECH_AREA", ""),
        ("TARGET_KEY", ""),
        ("WEB_OR_DATABASE", "false"),
        ("WEB_DB_SITE", ""),
        ("WEB_DB_INSTANCE", ""),
    ]


def _list_stig_info(case: RunRecord, published: BenchmarkTitle) -> list[tuple[str, str]]:
    return [
        ("version", published.version),
        ("classification", "UNCLASSIFIED"),
        ("customname", ""),
        ("stigid", published.id),
        ("description", ""),
        ("filename", ""),
        ("releaseinfo", published.release),
        ("title", published.title),
        ("uuid", str(uuid5(NAMESPACE_URL, f"temper:{case.run}:{case.head}:{published.id}"))),
        ("notice", ""),
        ("source", "Temper"),
    ]


def _fill_vuln(vuln: ET.Element, case: RunRecord, published: BenchmarkTitle, one: RuleRecord) -> None:
    for name, text in _list_vuln_attributes(published, one):
        pair = add_element(vuln, "STIG_DATA")
        add_element(pair, "VULN_ATTRIBUTE", name)
        add_element(pair, "ATTRIBUTE_DATA", text)
    add_element(vuln, "STATUS", CKL_STATUS[one.status])
    add_element(vuln, "FINDING_DETAILS", describe_finding(case, one))
    add_element(vuln, "COMMENTS", describe_actions_taken(case, one))
    add_element(vuln, "SEVERITY_OVERRIDE")
    add_element(vuln, "SEVERITY_JUSTIFICATION")


def _list_vuln_attributes(published: BenchmarkTitle, one: RuleRecord) -> Iterator[tuple[str, str]]:
    rule = one.named
    yield "Vuln_Num", rule.group
    yield "Severity", SEVERITY[one.rule.category]
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
    yield "STIGRef", published.reference
    yield "TargetKey", ""
    yield "STIG_UUID", ""
    yield "LEGACY_ID", ""
    for cci in rule.ccis or ("",):
        yield "CCI_REF", cci
