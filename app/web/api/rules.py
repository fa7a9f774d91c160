"""The rules of a skill."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.errors import BadInput
from app.events.words import Category
from app.people.rights import viewers
from app.skills.catalog import nearest, skill
from app.skills.skill import Rule, Skill
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire

router = api_router("rules")

SkillName = Annotated[str, Query(alias="skill", max_length=64)]


class RuleView(Wire):
    id: str
    stig_id: str
    category: Category
    title: str
    requirement: str
    fix: str
    paths: list[str]
    depends: list[str] = Field(description="Rules that must pass before it.")
    irreversible: bool = Field(description="Always waits for a person.")
    breaks: str = Field(description="What hardening it can break; empty when nothing is known.")


class RuleList(Wire):
    skill: str
    title: str
    rules: list[RuleView]


@router.get("/rules", responses=documented("unknown-skill"))
@viewers
def list_rules(skill_name: SkillName = "stig") -> RuleList:
    pack = _pack(skill_name)
    return RuleList(skill=pack.name, title=pack.title, rules=[_view(rule) for rule in pack.rules.values()])


@router.get("/rules/{rule}", responses=documented("not-found", "unknown-skill"))
@viewers
def show_rule(rule: str, skill_name: SkillName = "stig") -> RuleView:
    pack = _pack(skill_name)
    if rule not in pack.rules:
        near = ", ".join(nearest(rule, pack)) or "none: GET /api/v1/rules lists them"
        raise Problem("not-found", f"There is no rule {rule[:40]!a}; the nearest: {near}.", field="rule")
    return _view(pack.rules[rule])


def _pack(name: str) -> Skill:
    try:
        return skill(name)
    except BadInput as exc:
        raise Problem("unknown-skill", str(exc), field="skill") from exc


def _view(rule: Rule) -> RuleView:
    return RuleView.model_validate(rule, from_attributes=True)
