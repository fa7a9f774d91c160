"""What somebody asks for when starting a run, and the run's first event made from it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from app.events.kinds import RunQueued
from app.events.words import Budget, Mode
from app.lineups.model import Lineup
from app.people.rights import signed
from app.runs.order import mode_of, queued
from app.skills.catalog import nearest, skill
from app.skills.skill import Skill
from app.targets import consent
from app.targets.catalog import known_host, usual_mode
from app.web.api.problem import Problem, blamed
from app.web.api.wire import Line, Who, Wire

Profile = Literal["all", "cat-1", "cat-2", "cat-3"]
_CATEGORIES = {"cat-1": "I", "cat-2": "II", "cat-3": "III"}
_DAY = 24 * 3600.0


Rules = Annotated[
    list[Annotated[str, Field(max_length=128, examples=["V-257985"])]] | None,
    Field(min_length=1, max_length=1000, description="Rule ids; all when left out."),
]


class BudgetOrder(Wire):
    """What is left out stays as it is by default."""

    run_seconds: Annotated[float, Field(ge=1, le=30 * _DAY)] = Budget().run_seconds
    item_seconds: Annotated[float, Field(ge=1, le=_DAY)] = Budget().item_seconds
    turn_seconds: Annotated[float, Field(ge=1, le=_DAY)] = Budget().turn_seconds
    stall_seconds: Annotated[float, Field(ge=1, le=3600)] = Budget().stall_seconds
    approval_seconds: Annotated[float, Field(ge=1, le=30 * _DAY)] = Budget().approval_seconds
    attempts: Annotated[int, Field(ge=1, le=50)] = Budget().attempts
    item_tokens: Annotated[int, Field(ge=100, le=10_000_000)] = Budget().item_tokens


class RunOrder(Wire):
    host: Annotated[str, Field(max_length=64, examples=["fixture"])]
    skill: Annotated[str, Field(max_length=200)] = "stig"
    rules: Rules = None
    profile: Annotated[Profile | None, Field(description="By category, instead of rules.")] = None
    mode: Annotated[Mode | None, Field(description="Left out: auto on the built-in host, review on others.")] = None
    budget: BudgetOrder = BudgetOrder()
    keep: Annotated[bool, Field(description="Start from the host as it stands.")] = False
    note: Line = ""
    consent: Annotated[
        str,
        Field(
            max_length=200,
            description="Only for a host that could not be rolled back: I accept that HOST cannot be rolled back.",
        ),
    ] = ""
    by: Annotated[Who, Field(description="Who asks; it goes into the log.")] = "api"


def first_event(order: RunOrder, lineup: Lineup, pace: float, hosts: Path) -> RunQueued:
    pack = the_skill(order.skill)
    the_host(order.host, hosts)
    with blamed("consent"):
        consent.check(order.host, order.consent)
    with blamed("mode"):
        mode_of(order.mode or pack.mode or usual_mode(order.host), pack)
    return queued(
        lineup,
        host=order.host,
        rules=",".join(_rules(order, pack)),
        mode=order.mode or "",
        keep=order.keep,
        budget=Budget(**order.budget.model_dump()),
        note=order.note,
        pace=pace,
        by=signed(order.by),
        skill_name=pack.name,
        hosts=hosts,
        said=order.consent,
    )


def the_host(name: str, hosts: Path) -> None:
    with blamed("host", "unknown-host"):
        known_host(name, hosts)


def the_skill(name: str) -> Skill:
    with blamed("skill", "unknown-skill"):
        return skill(name)


def _rules(order: RunOrder, pack: Skill) -> list[str]:
    if order.rules is not None and order.profile is not None:
        raise Problem("invalid", "Give rules or a profile, not both.", field="profile")
    if order.rules is None:
        wanted = _CATEGORIES.get(order.profile or "all")
        return [rule.id for rule in pack.rules.values() if wanted in (None, rule.category)]
    return the_rules(order.rules, pack)


def the_rules(rules: list[str], pack: Skill) -> list[str]:
    for place, rule in enumerate(rules):
        if rule not in pack.rules:
            near = ", ".join(nearest(rule, pack))
            way_on = f"the nearest: {near}" if near else "GET /api/v1/rules lists those that there are"
            raise Problem("unknown-rule", f"There is no rule {rule!a}; {way_on}.", field=f"rules[{place}]")
    return rules
