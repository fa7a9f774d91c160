"""Encodes a skill's rules as one document, recorded by digest and included in the evidence."""

import hashlib
import json
from functools import lru_cache

from app.skills.skill import Rule, Skill

_TOLD = ("id", "stig_id", "category", "title", "requirement", "fix", "paths", "depends", "irreversible", "breaks")


def build_rulebook(skill: Skill) -> bytes:
    return _encode_rules(tuple(skill.documented_rules))


@lru_cache(4)
def _encode_rules(rules: tuple[Rule, ...]) -> bytes:
    """Encode the rules; cached, as most runs have the same."""
    entries = [{name: getattr(rule, name) for name in _TOLD} for rule in rules]
    return json.dumps(entries, indent=1, ensure_ascii=True).encode() + b"\n"


def hash_rulebook(skill: Skill) -> str:
    return hashlib.sha256(build_rulebook(skill)).hexdigest()
