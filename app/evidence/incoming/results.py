"""Reads foreign XML: a CKL, XCCDF results, or an ARF collection of them."""

from collections.abc import Iterable

from app.errors import BadInput
from app.evidence.incoming.assessed_rule import MOST, AssessedRule, parse_finding
from app.evidence.incoming.elements import Element, read_elements

_WANTED = ("VULN", "Rule", "rule-result")
_NAMES = ("version", "ident", "reference")


def read_results(content: bytes) -> list[AssessedRule]:
    root, found = read_elements(content, _WANTED)
    vulns = [one for one in found if one.tag == "VULN"]
    results = [one for one in found if one.tag == "rule-result"]
    if not vulns and not results:
        raise BadInput(f"it is XML of another kind: its root is {root[:40]!a}, and it has no result of any rule.")
    if len(vulns) + len(results) > MOST:
        raise BadInput(f"it lists {len(vulns) + len(results)} results; at most {MOST} are read.")
    known = {one.attributes.get("id", ""): _list_rule_names(one) for one in found if one.tag == "Rule"}
    return [*map(_parse_vuln, vulns), *_parse_rule_results(results, known)]


def _parse_vuln(vuln: Element) -> AssessedRule:
    pairs = {
        name: data
        for pair in vuln.children
        if pair.tag == "STIG_DATA"
        for name, data in zip(
            pair.list_child_texts("VULN_ATTRIBUTE"), pair.list_child_texts("ATTRIBUTE_DATA"), strict=False
        )
    }
    names = tuple(pairs[name] for name in ("Vuln_Num", "Rule_Ver", "Rule_ID") if pairs.get(name))
    return AssessedRule(names, parse_finding((vuln.list_child_texts("STATUS") or [""])[0]))


def _parse_rule_results(results: Iterable[Element], known: dict[str, tuple[str, ...]]) -> list[AssessedRule]:
    """Return each rule's last result, since a collection can hold several scans."""
    last = {}
    for result in results:
        rule = result.attributes.get("idref", "")
        names = (rule, *result.list_child_texts("ident"), *known.get(rule, ()))
        last[rule] = AssessedRule(names, parse_finding((result.list_child_texts("result") or [""])[0]))
    return list(last.values())


def _list_rule_names(rule: Element) -> tuple[str, ...]:
    """Return the rule's names in the benchmark that accompanies the results."""
    return tuple(text for tag in _NAMES for text in rule.list_child_texts(tag) if text)
