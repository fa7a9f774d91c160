"""XCCDF 1.2: the benchmark as far as known, and a scan's result for each rule."""

import re
from xml.etree import ElementTree as ET

from app.events.kinds import VerdictGiven
from app.events.record import stamp
from app.evidence.account import said_by
from app.evidence.case import Case, Judged
from app.evidence.markup import document, put
from app.evidence.status import SEVERITY

SPACE = "http://checklists.nist.gov/xccdf/1.2"
CCI = "http://cyber.mil/cci"
_PUBLISHED = re.compile(r"SV-\d+r\d+_rule")


def xccdf(case: Case) -> bytes:
    """Return the last scan inside its benchmark, for tools that do not read ARF."""
    root = benchmark_in(ET.Element("Benchmark", _about(case)), case)
    result_in(root, case, "opening" if case.request.mode == "scan" else "closing")
    return document(root)


def benchmark_below(parent: ET.Element, case: Case) -> None:
    benchmark_in(put(parent, "Benchmark", **_about(case)), case)


def _about(case: Case) -> dict[str, str]:
    return {"xmlns": SPACE, "id": benchmark_id(case), "resolved": "1", "xml:lang": "en"}


def benchmark_in(root: ET.Element, case: Case) -> ET.Element:
    published = case.published
    put(root, "status", "incomplete")
    put(root, "title", published.title)
    put(root, "description", published.told)
    put(root, "plain-text", published.release or "none", id="release-info")
    put(root, "version", published.version)
    for one in case.judged:
        _rule(root, one)
    return root


def _rule(root: ET.Element, one: Judged) -> None:
    named = one.named
    group = put(root, "Group", id=f"xccdf_{_maker(one)}_group_{_name(named.group)}")
    put(group, "title", named.group_title)
    rule = put(group, "Rule", id=idref(one), severity=SEVERITY[one.rule.category], weight="10.0")
    put(rule, "version", named.stig_id)
    put(rule, "title", named.title)
    put(rule, "description", named.discussion)
    for cci in named.ccis:
        put(rule, "ident", cci, system=CCI)
    put(rule, "fixtext", named.fix)
    put(put(rule, "check", system="urn:temper:check"), "check-content", named.check)


def result_in(parent: ET.Element, case: Case, phase: str, **spaces: str) -> None:
    state = case.state
    verdicts = state.opening if phase == "opening" else state.closing
    at = stamp(case.scanned.get(phase, case.queued_at if phase == "opening" else state.at))
    began = stamp(state.started_at or case.queued_at)
    version = _name(state.started.temper if state.started else "") or "0"
    result = put(
        parent,
        "TestResult",
        **{**spaces, "id": f"xccdf_temper_testresult_{case.run}.{phase}", "start-time": began, "end-time": at},
        **{"version": case.published.version, "test-system": f"cpe:/a:temper:temper:{version}"},
    )
    put(result, "benchmark", id=benchmark_id(case), href=f"urn:temper:skill:{case.skill.name}")
    put(result, "title", f"Temper run {case.run}, {phase} scan")
    put(result, "remark", f"Verdicts: {_scanner(case)}. Chain head {case.head}.")
    put(result, "remark", case.published.told)
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
    shown = put(result, "rule-result", idref=idref(one), time=at, severity=SEVERITY[rule.category], weight="1.0")
    word = verdict.word if verdict else ("notchecked" if asked else "notselected")
    put(shown, "result", word)
    put(shown, "ident", rule.id, system="urn:temper:rule")
    put(shown, "ident", one.named.stig_id, system="urn:temper:stig-id")
    for cci in one.named.ccis:
        put(shown, "ident", cci, system=CCI)
    if one.waiver and word not in ("pass", "notapplicable"):
        # Not an override: it would change the result, and NIST's rules would then require one for every result.
        put(shown, "message", one.waiver.told, severity="warning")
    if one.left_out:
        put(shown, "message", one.left_out, severity="info")
    if verdict:
        put(shown, "message", said_by(verdict), severity="info")
        put(shown, "check", system=f"urn:temper:scanner:{verdict.scanner.split(' ')[0].lower()}")


def benchmark_id(case: Case) -> str:
    id_ = case.published.id
    if id_.startswith("xccdf_"):
        return id_
    known = any(_PUBLISHED.fullmatch(one.named.id) for one in case.judged)
    return f"xccdf_{'mil.disa.stig' if known else 'temper'}_benchmark_{_name(id_)}"


def idref(one: Judged) -> str:
    published = _PUBLISHED.fullmatch(one.named.id)
    return f"xccdf_{_maker(one)}_rule_{_name(one.named.id if published else one.rule.id)}"


def _maker(one: Judged) -> str:
    return "mil.disa.stig" if _PUBLISHED.fullmatch(one.named.id) else "temper"


def _name(text: str) -> str:
    """Replace characters that an XCCDF id cannot contain, such as the colon in a skill's name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)


def _scanner(case: Case) -> str:
    """Return the names of the scanners that gave the verdicts."""
    names = {verdict.scanner for one in case.judged for verdict in (one.opening, one.closing) if verdict}
    return ", ".join(sorted(names)) or (case.state.started.scanner if case.state.started else "none")
