"""XCCDF 1.2: the benchmark as far as known, and a scan's result for each rule."""

import re
from xml.etree import ElementTree as ET

from app.events.kinds import VerdictGiven
from app.events.record import format_timestamp
from app.evidence.finding_text import format_scanner_verdict
from app.evidence.run_record import RuleRecord, RunRecord
from app.evidence.xml_and_json_writing import add_element, serialize_document

SPACE = "http://checklists.nist.gov/xccdf/1.2"
CCI = "http://cyber.mil/cci"
_PUBLISHED = re.compile(r"SV-\d+r\d+_rule")


def build_xccdf(case: RunRecord) -> bytes:
    """Return the last scan inside its benchmark, for tools that do not read ARF."""
    root = add_benchmark(ET.Element("root"), case)
    add_test_result(root, case, case.phase_of_final_verdicts)
    return serialize_document(root)


def add_benchmark(parent: ET.Element, case: RunRecord) -> ET.Element:
    attributes = {"xmlns": SPACE, "id": build_benchmark_id(case), "resolved": "1", "xml:lang": "en"}
    root, published = add_element(parent, "Benchmark", **attributes), case.published
    add_element(root, "status", "incomplete")
    add_element(root, "title", published.title)
    add_element(root, "description", published.note)
    add_element(root, "plain-text", published.release or "none", id="release-info")
    add_element(root, "version", published.version)
    for one in case.judged:
        _add_benchmark_rule(root, one)
    return root


def _add_benchmark_rule(root: ET.Element, rule_record: RuleRecord) -> None:
    named = rule_record.named
    group = add_element(
        root, "Group", id=f"xccdf_{_choose_disa_or_temper_namespace(rule_record)}_group_{_to_id_part(named.group)}"
    )
    add_element(group, "title", named.group_title)
    rule = add_element(group, "Rule", id=build_rule_idref(rule_record), severity=rule_record.severity, weight="10.0")
    add_element(rule, "version", named.stig_id)
    add_element(rule, "title", named.title)
    add_element(rule, "description", named.discussion)
    for cci in named.ccis:
        add_element(rule, "ident", cci, system=CCI)
    add_element(rule, "fixtext", named.fix)
    add_element(add_element(rule, "check", system="urn:temper:check"), "check-content", named.check)


def add_test_result(parent: ET.Element, case: RunRecord, phase: str, **spaces: str) -> None:
    state = case.state
    verdicts = state.opening if phase == "opening" else state.closing
    at = format_timestamp(case.scanned.get(phase, case.queued_at if phase == "opening" else state.at))
    began = format_timestamp(state.started_at or case.queued_at)
    version = _to_id_part(state.started.temper if state.started else "") or "0"
    result = add_element(
        parent,
        "TestResult",
        **{**spaces, "id": f"xccdf_temper_testresult_{case.run}.{phase}", "start-time": began, "end-time": at},
        **{"version": case.published.version, "test-system": f"cpe:/a:temper:temper:{version}"},
    )
    add_element(result, "benchmark", id=build_benchmark_id(case), href=f"urn:temper:skill:{case.skill.name}")
    add_element(result, "title", f"Temper run {case.run}, {phase} scan")
    add_element(result, "remark", f"Verdicts: {_join_scanner_names(case)}. Chain head {case.head}.")
    add_element(result, "remark", case.published.note)
    if case.simulated:
        add_element(result, "remark", f"SIMULATED: {case.simulated}.")
    add_element(result, "identity", case.request.by, authenticated="false", privileged="false")
    add_element(result, "target", case.request.host)
    facts = add_element(result, "target-facts")
    add_element(facts, "fact", _join_scanner_names(case), name="urn:temper:scanner", type="string")
    for one in case.judged:
        _add_rule_result(result, case, one, verdicts.get(one.rule.id), at)
    passed = sum(verdict.word == "pass" for verdict in verdicts.values())
    add_element(result, "score", str(passed), system="urn:xccdf:scoring:flat-unweighted", maximum=str(len(verdicts)))


def _add_rule_result(
    result: ET.Element, case: RunRecord, rule_record: RuleRecord, verdict: VerdictGiven | None, timestamp: str
) -> None:
    rule = rule_record.rule
    idref, severity = build_rule_idref(rule_record), rule_record.severity
    shown = add_element(result, "rule-result", idref=idref, time=timestamp, severity=severity, weight="1.0")
    word = verdict.word if verdict else ("notchecked" if rule.id in case.request.rules else "notselected")
    add_element(shown, "result", word)
    add_element(shown, "ident", rule.id, system="urn:temper:rule")
    add_element(shown, "ident", rule_record.named.stig_id, system="urn:temper:stig-id")
    for cci in rule_record.named.ccis:
        add_element(shown, "ident", cci, system=CCI)
    if rule_record.waiver and word not in ("pass", "notapplicable"):
        # Not an override: it would change the result, and NIST's rules would then require one for every result.
        add_element(shown, "message", rule_record.waiver.summary, severity="warning")
    if rule_record.left_out:
        add_element(shown, "message", rule_record.left_out, severity="info")
    if verdict:
        add_element(shown, "message", format_scanner_verdict(verdict), severity="info")
        add_element(shown, "check", system=f"urn:temper:scanner:{verdict.scanner.split(' ')[0].lower()}")


def build_benchmark_id(case: RunRecord) -> str:
    id_ = case.published.id
    if id_.startswith("xccdf_"):
        return id_
    known = any(_PUBLISHED.fullmatch(one.named.id) for one in case.judged)
    return f"xccdf_{'mil.disa.stig' if known else 'temper'}_benchmark_{_to_id_part(id_)}"


def build_rule_idref(rule_record: RuleRecord) -> str:
    published = _PUBLISHED.fullmatch(rule_record.named.id)
    id_ = rule_record.named.id if published else rule_record.rule.id
    return f"xccdf_{_choose_disa_or_temper_namespace(rule_record)}_rule_{_to_id_part(id_)}"


def _choose_disa_or_temper_namespace(rule_record: RuleRecord) -> str:
    return "mil.disa.stig" if _PUBLISHED.fullmatch(rule_record.named.id) else "temper"


def _to_id_part(text: str) -> str:
    """Replace characters that an XCCDF id cannot contain, such as the colon in a skill's name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)


def _join_scanner_names(case: RunRecord) -> str:
    names = {verdict.scanner for one in case.judged for verdict in (one.opening, one.closing) if verdict}
    return ", ".join(sorted(names)) or (case.state.started.scanner if case.state.started else "none")


_ARF = "http://scap.nist.gov/schema/asset-reporting-format/1.1"
_CORE = "http://scap.nist.gov/schema/reporting-core/1.1"
_AI = "http://scap.nist.gov/schema/asset-identification/1.1"
_VOCABULARY = "http://scap.nist.gov/specifications/arf/vocabulary/relationships/1.0#"
_ASSET, _REQUEST = "host", "benchmark"
PHASES = ("opening", "closing")


def build_arf(case: RunRecord) -> bytes:
    spaces = {"xmlns:arf": _ARF, "xmlns:core": _CORE, "xmlns:ai": _AI, "xmlns:relation": _VOCABULARY}
    root = ET.Element("arf:asset-report-collection", spaces)
    related = add_element(root, "core:relationships")
    for phase in PHASES:
        for kind, of in (("isAbout", _ASSET), ("createdFor", _REQUEST)):
            about = add_element(related, "core:relationship", type=f"relation:{kind}", subject=phase)
            add_element(about, "core:ref", of)
    request = add_element(add_element(root, "arf:report-requests"), "arf:report-request", id=_REQUEST)
    add_benchmark(add_element(request, "arf:content"), case)
    asset = add_element(add_element(root, "arf:assets"), "arf:asset", id=_ASSET)
    add_element(add_element(asset, "ai:computing-device"), "ai:hostname", case.request.host)
    reports = add_element(root, "arf:reports")
    for phase in PHASES:
        content = add_element(add_element(reports, "arf:report", id=phase), "arf:content")
        add_test_result(content, case, phase, xmlns=SPACE)
    return serialize_document(root)
