"""The built-in STIG skill: thirty rules of the RHEL 9 STIG that plain files decide, in our own words."""

from collections.abc import Mapping
from dataclasses import replace

from app.skills.skill import Skill
from app.skills.stig.rules import read_parts
from app.skills.stig.site import PARAMETERS, apply_site_values


def _apply_values(values: Mapping[str, str]) -> Skill:
    return replace(SKILL, rules=apply_site_values(SKILL.rules, values))


SKILL = STIG = Skill(
    name="stig",
    title="DISA STIG for RHEL 9: thirty rules that plain files decide",
    rules={rule.id: rule for part in read_parts().values() for rule in part},
    parameters=PARAMETERS,
    retuned=_apply_values,
)
