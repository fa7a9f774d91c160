"""Parses oscap's asset report (ARF) into outcomes by rule. Verdicts come from result fields, never from text."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import BadInput
from app.events.event_field_types import Word
from app.scanners.openscap.oval_explanation import OvalFinding, OvalReport, index_report
from app.scanners.openscap.safe_xml import Element, join_text_collapsing_whitespace, parse_xml
from app.text.clean import clean_text

WORDS: Mapping[str, tuple[Word, str]] = {
    "pass": ("pass", "holds"),
    "fail": ("fail", "does not hold"),
    "error": ("error", "the check broke off"),
    "unknown": ("unknown", "the check came to no result"),
    "notapplicable": ("notapplicable", "it is not meant for this host"),
    "notchecked": ("unknown", "the content has no automatic check"),
    "notselected": ("unknown", "the profile leaves it out"),
    "informational": ("unknown", "the content only informs"),
    "fixed": ("unknown", "something changed the host while it was scanned"),
}
"""XCCDF's nine results; an unjudged rule is unknown, never a pass."""
_OVAL = {"pass": "true", "fail": "false", "error": "error", "unknown": "unknown"}
LONGEST = 900


@dataclass(frozen=True)
class RuleOutcome:
    word: Word
    evidence: str
    path: str | None = None


def read_arf(content: bytes) -> dict[str, RuleOutcome]:
    """Return the outcomes by the content's full rule id."""
    root = parse_xml(content, "The scan's result")
    reports = {one.get("id", ""): one for one in root.iter("{*}report")}
    result = next(root.iter("{*}TestResult"), None)
    if result is None:
        raise BadInput("The scan's result has no TestResult, so it is not an OpenSCAP asset report.")
    ovals: dict[str, OvalReport] = {}
    return {one.get("idref", ""): _parse_outcome(one, reports, ovals) for one in result.iter("{*}rule-result")}


def _parse_outcome(
    rule_result: Element, reports: Mapping[str, Element], indexed_reports: dict[str, OvalReport]
) -> RuleOutcome:
    said = join_text_collapsing_whitespace(rule_result.find("{*}result"))
    word, meaning = WORDS.get(said, ("error", f"OpenSCAP gave a word that is none of XCCDF's: {said[:20]!a}"))
    findings = [
        found
        for ref in rule_result.iter("{*}check-content-ref")
        for found in _collect_findings(ref, said, reports, indexed_reports)
    ]
    messages = [join_text_collapsing_whitespace(message) for message in rule_result.findall("{*}message")]
    told = " ".join([f"OpenSCAP: {said}, {meaning}.", *dict.fromkeys(found.text for found in findings), *messages])
    path = next((found.path for found in findings if found.path), None)
    return RuleOutcome(word, clean_text(told, LONGEST), path)


def _collect_findings(
    ref: Element, result_word: str, reports: Mapping[str, Element], indexed_reports: dict[str, OvalReport]
) -> tuple[OvalFinding, ...]:
    name, definition = ref.get("href", "").removeprefix("#"), ref.get("name", "")
    if result_word not in _OVAL or name not in reports:
        return ()
    if name not in indexed_reports:
        indexed_reports[name] = index_report(reports[name])
    return indexed_reports[name].explain_result(definition, _OVAL[result_word])
