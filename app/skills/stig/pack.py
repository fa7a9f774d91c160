"""The rule pack: thirty rules of the RHEL 9 STIG that plain files decide. Facts from the STIG, sentences our own."""

from app.skills.skill import Skill
from app.skills.stig import accounts, audit, passwords, ssh, sudo, system

SKILL = STIG = Skill(
    name="stig",
    title="DISA STIG for RHEL 9: thirty rules that plain files decide",
    rules={rule.id: rule for part in (ssh, passwords, accounts, sudo, audit, system) for rule in part.RULES},
)
