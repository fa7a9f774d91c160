"""A skill's rules in one document: what a run began with, by its digest, and what its evidence shows."""

import hashlib
import json

from app.skills.skill import Rule, Skill

_TOLD = ("id", "stig_id", "category", "title", "requirement", "fix", "paths", "depends", "irreversible", "breaks")


def rulebook(skill: Skill) -> bytes:
    rules = [_told(rule) for rule in skill.told]
    return json.dumps(rules, indent=1, ensure_ascii=True).encode() + b"\n"


def digest(skill: Skill) -> str:
    return hashlib.sha256(rulebook(skill)).hexdigest()


def _told(rule: Rule) -> dict[str, object]:
    return {name: getattr(rule, name) for name in _TOLD}
