"""The verdicts as results of an SCAP tool: XCCDF TestResults, before and after the run, in an ARF collection."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

from app.events.kinds import VerdictGiven
from app.events.record import stamp
from app.evidence.account import said_by
from app.evidence.benchmark import benchmark
from app.evidence.case import Case, Judged
from app.evidence.markup import document, put
from app.evidence.status import SEVERITY
from app.skills.skill import Rule

_ARF = "http://scap.nist.gov/schema/asset-reporting-format/1.1"
_CORE = "http://scap.nist.gov/schema/reporting-core/1.1"
_AI = "http://scap.nist.gov/schema/asset-identification/1.1"
_VOCABULARY = "http://scap.nist.gov/specifications/arf/vocabulary/relationships/1.0#"
_XCCDF = "http://checklists.nist.gov/xccdf/1.2"
_ASSET = "host"


def arf(case: Case) -> bytes:
    spaces = {"xmlns:arf": _ARF, "xmlns:core": _CORE, "xmlns:ai": _AI, "xmlns:relation": _VOCABULARY}
    root = ET.Element("arf:asset-report-collection", spaces)
    state = case.state
    scans: list[tuple[str, Mapping[str, VerdictGiven], float]] = [
        ("opening", state.opening, case.scanned.get("opening", case.queued_at)),
        ("closing", state.closing, case.scanned.get("closing", state.at)),
    ]
    related = put(root, "core:relationships")
    for phase, _, _ in scans:
        about = put(related, "core:relationship", type="relation:isAbout", subject=phase)
        put(about, "core:ref", _ASSET)
    asset = put(put(root, "arf:assets"), "arf:asset", id=_ASSET)
    put(put(asset, "ai:computing-device"), "ai:hostname", case.request.host)
    reports = put(root, "arf:reports")
    for phase, verdicts, at in scans:
        content = put(put(reports, "arf:report", id=phase), "arf:content")
        _test_result(content, case, phase, verdicts, stamp(at))
    return document(root)


def _test_result(content: ET.Element, case: Case, phase: str, verdicts: Mapping[str, VerdictGiven], at: str) -> None:
    published, began = benchmark(case.skill), stamp(case.state.started_at or case.queued_at)
    result = put(
        content,
        "TestResult",
        **{"xmlns": _XCCDF, "id": f"xccdf_temper_testresult_{case.run}.{phase}", "start-time": began, "end-time": at},
        version=published.version,
    )
    put(result, "benchmark", id=f"xccdf_temper_benchmark_{published.id}", href=f"urn:temper:skill:{case.skill.name}")
    put(result, "title", f"Temper run {case.run}, {phase} scan")
    put(result, "remark", f"Verdicts: {_scanner(case)}. Chain head {case.head}.")
    if case.simulated:
        put(result, "remark", f"SIMULATED: {case.simulated}.")
    put(result, "identity", case.request.by, authenticated="false", privileged="false")
    put(result, "target", case.request.host)
    facts = put(result, "target-facts")
    put(facts, "fact", _scanner(case), name="urn:temper:scanner", type="string")
    for one in case.judged:
        _rule_result(result, case, one, verdicts.get(one.rule.id), at)
    passed = sum(verdict.word == "pass" for verdict in verdicts.values())
    put(result, "score", str(passed), system="urn:xccdf:scoring:flat-unweighted", maximum=str(len(verdicts)))


def _rule_result(result: ET.Element, case: Case, one: Judged, verdict: VerdictGiven | None, at: str) -> None:
    rule = one.rule
    asked = rule.id in case.request.rules
    shown = put(result, "rule-result", idref=_idref(rule), time=at, severity=SEVERITY[rule.category], weight="1.0")
    put(shown, "result", verdict.word if verdict else ("notchecked" if asked else "notselected"))
    put(shown, "ident", rule.id, system="urn:temper:rule")
    put(shown, "ident", rule.stig_id, system="urn:temper:stig-id")
    if verdict:
        put(shown, "message", said_by(verdict), severity="info")
        put(shown, "check", system=f"urn:temper:scanner:{verdict.scanner.split(' ')[0].lower()}")


def _idref(rule: Rule) -> str:
    return rule.id if rule.id.startswith("xccdf_") else f"xccdf_temper_rule_{rule.id}"


def _scanner(case: Case) -> str:
    """Who gave the verdicts, by name: built-in checks or OpenSCAP."""
    names = {verdict.scanner for one in case.judged for verdict in (one.opening, one.closing) if verdict}
    return ", ".join(sorted(names)) or (case.state.started.scanner if case.state.started else "none")
