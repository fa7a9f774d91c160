"""The checklist for STIG Viewer 2: CKL, XML with a fixed order of elements."""

from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from app.evidence.account import done, found
from app.evidence.benchmark import BenchmarkTitle
from app.evidence.case import Case, Judged
from app.evidence.markup import document, put
from app.evidence.status import CKL_STATUS, SEVERITY


def ckl(case: Case) -> bytes:
    published = case.published
    root = ET.Element("CHECKLIST")
    asset = put(root, "ASSET")
    for tag, text in _asset(case):
        put(asset, tag, text)
    stig = put(put(root, "STIGS"), "iSTIG")
    info = put(stig, "STIG_INFO")
    for name, text in _info(case, published):
        pair = put(info, "SI_DATA")
        put(pair, "SID_NAME", name)
        put(pair, "SID_DATA", text)
    for one in case.judged:
        _vuln(put(stig, "VULN"), case, published, one)
    return document(root)


def _asset(case: Case) -> list[tuple[str, str]]:
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


def _info(case: Case, published: BenchmarkTitle) -> list[tuple[str, str]]:
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


def _vuln(vuln: ET.Element, case: Case, published: BenchmarkTitle, one: Judged) -> None:
    for name, text in _attributes(published, one):
        pair = put(vuln, "STIG_DATA")
        put(pair, "VULN_ATTRIBUTE", name)
        put(pair, "ATTRIBUTE_DATA", text)
    put(vuln, "STATUS", CKL_STATUS[one.status])
    put(vuln, "FINDING_DETAILS", found(case, one))
    put(vuln, "COMMENTS", done(case, one))
    put(vuln, "SEVERITY_OVERRIDE")
    put(vuln, "SEVERITY_JUSTIFICATION")


def _attributes(published: BenchmarkTitle, one: Judged) -> Iterator[tuple[str, str]]:
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
