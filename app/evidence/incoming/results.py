"""Reads foreign XML: a CKL, XCCDF results, or an ARF collection of them."""

from collections.abc import Iterable

from app.errors import BadInput
from app.evidence.incoming.assessed import MOST, Assessed, finding
from app.evidence.incoming.elements import Element, elements

_WANTED = ("VULN", "Rule", "rule-result")
_NAMES = ("version", "ident", "reference")


def read_results(content: bytes) -> list[Assessed]:
    root, found = elements(content, _WANTED)
    vulns = [one for one in found if one.tag == "VULN"]
    results = [one for one in found if one.tag == "rule-result"]
    if not vulns and not results:
        raise BadInput(f"it is XML of another kind: its root is {root[:40]!a}, and it has no result of any rule.")
    if len(vulns) + len(results) > MOST:
        raise BadInput(f"it lists {len(vulns) + len(results)} results; at most {MOST} are read.")
    known = {one.attributes.get("id", ""): _names(one) for one in found if one.tag == "Rule"}
    return [*map(_of_vuln, vulns), *_of_results(results, known)]


def _of_vuln(vuln: Element) -> Assessed:
    pairs = {
        name: data
        for pair in vuln.children
        if pair.tag == "STIG_DATA"
        for name, data in zip(pair.texts("VULN_ATTRIBUTE"), pair.texts("ATTRIBUTE_DATA"), strict=False)
    }
    names = tuple(pairs[name] for name in ("Vuln_Num", "Rule_Ver", "Rule_ID") if pairs.get(name))
    return Assessed(names, finding((vuln.texts("STATUS") or [""])[0]))


def _of_results(results: Iterable[Element], known: dict[str, tuple[str, ...]]) -> list[Assessed]:
    """Return each rule's last result, since a collection can hold several scans."""
    last = {}
    for result in results:
        rule = result.attributes.get("idref", "")
        names = (rule, *result.texts("ident"), *known.get(rule, ()))
        last[rule] = Assessed(names, finding((result.texts("result") or [""])[0]))
    return list(last.values())


def _names(rule: Element) -> tuple[str, ...]:
    """Return the rule's names in the benchmark that accompanies the results."""
    return tuple(text for tag in _NAMES for text in rule.texts(tag) if text)
