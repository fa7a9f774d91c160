"""The rules of a skill."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.errors import convert_bad_input_to_rejected
from app.events.event_field_types import Category
from app.people.rights import viewers
from app.skills.catalog import load_skill, suggest_rules
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, build_problem_responses

router = api_router("rules")

SkillName = Annotated[str, Query(alias="skill", max_length=64)]


class RuleView(ApiModel):
    id: str
    stig_id: str
    category: Category
    title: str
    requirement: str
    fix: str
    paths: list[str]
    depends: list[str] = Field(description="Rules that must pass before this rule.")
    irreversible: bool = Field(description="Changes for this rule always need approval.")
    breaks: str = Field(description="What hardening this rule can break; empty if nothing is known.")


class RuleList(ApiModel):
    skill: str
    title: str
    rules: list[RuleView]


@router.get("/rules", responses=build_problem_responses("unknown-skill"))
@viewers
def list_rules(skill_name: SkillName = "stig") -> RuleList:
    """List the rules of a skill."""
    with convert_bad_input_to_rejected("skill", "unknown-skill"):
        pack = load_skill(skill_name)
    return RuleList.from_source(pack, skill=pack.name, rules=list(pack.rules.values()))


@router.get("/rules/{rule}", responses=build_problem_responses("not-found", "unknown-skill"))
@viewers
def show_rule(rule: str, skill_name: SkillName = "stig") -> RuleView:
    """Show one rule with its texts."""
    with convert_bad_input_to_rejected("skill", "unknown-skill"):
        pack = load_skill(skill_name)
    if rule not in pack.rules:
        near = ", ".join(suggest_rules(rule, pack)) or "none (GET /api/v1/rules lists all rules)"
        raise Problem("not-found", f"There is no rule {rule[:40]!a}; the nearest: {near}.", field="rule")
    return RuleView.from_source(pack.rules[rule])
