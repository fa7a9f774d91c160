"""A skill's rules in one document: what a run began with, by its digest, and what its evidence shows."""

import hashlib
import json

from app.skills.skill import Rule, Skill


def rulebook(skill: Skill) -> bytes:
    rules = [_told(rule) for rule in skill.told]
    return json.dumps(rules, indent=1, ensure_ascii=True).encode() + b"\n"


def digest(skill: Skill) -> str:
    return hashlib.sha256(rulebook(skill)).hexdigest()


def _told(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "stig_id": rule.stig_id,
        "category": rule.category,
        "title": rule.title,
        "requirement": rule.requirement,
        "fix": rule.fix,
        "paths": list(rule.paths),
        "depends": list(rule.depends),
        "irreversible": rule.irreversible,
        "breaks": rule.breaks,
    }
