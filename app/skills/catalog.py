"""The skills there are, and the rules somebody may have meant."""

from difflib import get_close_matches

from app.errors import BadInput
from app.skills.skill import Skill
from app.skills.stig.pack import STIG

SKILLS = {STIG.name: STIG}


def skill(name: str) -> Skill:
    if name not in SKILLS:
        raise BadInput(f"There is no skill {name!a}; choose one of {', '.join(sorted(SKILLS))}.")
    return SKILLS[name]


def nearest(rule_id: str, skill: Skill) -> list[str]:
    """Up to three rule ids that look like the one given, by V-number or by the STIG's own id."""
    names = {name: rule.id for rule in skill.rules.values() for name in (rule.id, rule.stig_id)}
    close = get_close_matches(rule_id.strip().upper()[:40], names, n=6, cutoff=0.6)
    return list(dict.fromkeys(names[name] for name in close))[:3]
