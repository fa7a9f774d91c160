"""Reads a foreign CKLB: only each rule's names and status."""

import msgspec

from app.errors import BadInput
from app.evidence.incoming.assessed_rule import MOST, AssessedRule, parse_finding


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


def read_checklist(content: bytes) -> list[AssessedRule]:
    if len(content) > LARGEST:
        raise BadInput(f"it has more than {LARGEST // 1024**2} MiB, which no checklist needs.")
    try:
        checklist = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_Checklist)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadInput(f"it is no CKLB: {exc}.") from exc
    rules = [rule for stig in checklist.stigs for rule in stig.rules]
    if len(rules) > MOST:
        raise BadInput(f"it lists {len(rules)} rules; at most {MOST} are read.")
    return [_to_assessed_rule(rule) for rule in rules]


def _to_assessed_rule(rule: _Rule) -> AssessedRule:
    names = (rule.group_id, rule.group_id_src, rule.rule_version, rule.rule_id, rule.rule_id_src)
    return AssessedRule(tuple(name for name in names if name), parse_finding(rule.status))
