"""Reads the assessments of others: a CKLB; and in XML a CKL, XCCDF results, or an ARF collection of them.

Only each rule's names and result are taken.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

from app.errors import BadInput
from app.evidence.incoming.elements import Element, read_root_tag_and_elements

Finding = Literal["open", "closed", "undecided"]
"""closed: holds or not applicable. undecided: not reviewed, not checked, error or unknown."""
MOST = 50_000
"""Most rules in one file."""


@dataclass(frozen=True)
class AssessedRule:
    names: tuple[str, ...]
    """The rule's names in the file, the plainest first."""
    finding: Finding


def classify_status_as_open_closed_or_undecided(status: str) -> Finding:
    """Parse a status of CKLB, CKL or XCCDF."""
    match status.strip().lower().replace("_", ""):
        case "open" | "fail":
            return "open"
        case "notafinding" | "notapplicable" | "pass" | "fixed":
            return "closed"
        case _:
            return "undecided"


class _Rule(msgspec.Struct):
    status: str
    group_id: str = ""
    group_id_src: str = ""
    rule_version: str = ""
    rule_id: str = ""
    rule_id_src: str = ""


class _Stig(msgspec.Struct):
    rules: list[_Rule]


class _Checklist(msgspec.Struct):
    stigs: list[_Stig]


LARGEST = 32 * 1024 * 1024
"""Lower than for XML, since a few bytes of JSON can become a rule."""


def parse_cklb(content: bytes) -> list[AssessedRule]:
    if len(content) > LARGEST:
        raise BadInput(f"it has more than {LARGEST // 1024**2} MiB, the limit for a checklist.")
    try:
        checklist = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_Checklist)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadInput(f"it is no CKLB: {exc}.") from exc
    rules = [rule for stig in checklist.stigs for rule in stig.rules]
    if len(rules) > MOST:
        raise BadInput(f"it lists {len(rules)} rules; the limit is {MOST}.")
    return [_to_assessed_rule(rule) for rule in rules]


def _to_assessed_rule(rule: _Rule) -> AssessedRule:
    names = (rule.group_id, rule.group_id_src, rule.rule_version, rule.rule_id, rule.rule_id_src)
    return AssessedRule(tuple(name for name in names if name), classify_status_as_open_closed_or_undecided(rule.status))


_WANTED = ("VULN", "Rule", "rule-result")
_NAMES = ("version", "ident", "reference")


def parse_ckl_or_xccdf(content: bytes) -> list[AssessedRule]:
    root, found = read_root_tag_and_elements(content, _WANTED)
    vulns = [one for one in found if one.tag == "VULN"]
    results = [one for one in found if one.tag == "rule-result"]
    if not vulns and not results:
        raise BadInput(f"it is XML of another kind: its root is {root[:40]!a}, and it has no result of any rule.")
    if len(vulns) + len(results) > MOST:
        raise BadInput(f"it lists {len(vulns) + len(results)} results; the limit is {MOST}.")
    known = {one.attributes.get("id", ""): _list_rule_names(one) for one in found if one.tag == "Rule"}
    return [*map(_parse_vuln, vulns), *_parse_rule_results(results, known)]


def _parse_vuln(vuln: Element) -> AssessedRule:
    data: dict[str, str] = {}
    for pair in vuln.children:
        if pair.tag == "STIG_DATA":
            attributes, texts = pair.list_child_texts("VULN_ATTRIBUTE"), pair.list_child_texts("ATTRIBUTE_DATA")
            data |= zip(attributes, texts, strict=False)
    names = tuple(data[name] for name in ("Vuln_Num", "Rule_Ver", "Rule_ID") if data.get(name))
    return AssessedRule(
        names, classify_status_as_open_closed_or_undecided((vuln.list_child_texts("STATUS") or [""])[0])
    )


def _parse_rule_results(results: Iterable[Element], rule_names_by_id: dict[str, tuple[str, ...]]) -> list[AssessedRule]:
    """Return each rule's last result, since a collection can hold several scans."""
    last = {}
    for result in results:
        rule = result.attributes.get("idref", "")
        names = (rule, *result.list_child_texts("ident"), *rule_names_by_id.get(rule, ()))
        last[rule] = AssessedRule(
            names, classify_status_as_open_closed_or_undecided((result.list_child_texts("result") or [""])[0])
        )
    return list(last.values())


def _list_rule_names(rule: Element) -> tuple[str, ...]:
    return tuple(text for tag in _NAMES for text in rule.list_child_texts(tag) if text)
