"""Encodes a skill's rules as one document, recorded by digest and included in the evidence."""

import hashlib
import json
from functools import lru_cache

from app.skills.skill import Rule, Skill

_TOLD = ("id", "stig_id", "category", "title", "requirement", "fix", "paths", "depends", "irreversible", "breaks")


def rulebook(skill: Skill) -> bytes:
    return _document(tuple(skill.told))


@lru_cache(4)
def _document(rules: tuple[Rule, ...]) -> bytes:
    """Encode the rules; cached, as most runs have the same."""
    return json.dumps([_told(rule) for rule in rules], indent=1, ensure_ascii=True).encode() + b"\n"


def digest(skill: Skill) -> str:
    return hashlib.sha256(rulebook(skill)).hexdigest()


def _told(rule: Rule) -> dict[str, object]:
    return {name: getattr(rule, name) for name in _TOLD}
