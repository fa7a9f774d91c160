"""Site values for the parameters of rules."""

from typing import Annotated, Literal

from fastapi import Path as InPath
from fastapi import Query
from pydantic import Field

from app.people.rights import get_name_to_record, operators, viewers
from app.runs.site_values import (
    LONGEST,
    ParameterSpec,
    ParameterState,
    delete_parameter_value,
    list_parameter_states,
    set_parameter,
)
from app.store.parameters import ParameterRow
from app.web.api.api_model import ApiModel, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.api.run_order_models import HostName, SkillName
from app.web.deps import TheRuntime, TheSession

router = api_router("parameters")

Name = Annotated[str, InPath(max_length=LONGEST["name"])]
GroupName = Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST["group"], examples=["web"])]
_Host = Annotated[str, Query(max_length=LONGEST["host"])]
_Skill = Annotated[str, Query(max_length=LONGEST["skill"])]


class ParameterOrder(ApiModel):
    value: str = declare_field_with_unchecked_bounds(maxLength=LONGEST["value"], examples=["20"])
    host: HostName | None = Field(
        default=None, description="Host that the value applies to. Without host and group: every host."
    )
    group: GroupName | None = Field(
        default=None, description="The value applies to the hosts that are in this group when a run starts."
    )
    skill: SkillName = "stig"


class ParameterSet(ApiModel):
    """One value that was set."""

    value: str
    host: str | None = Field(description="Host of the value; if host and group are None, every host.")
    group: str | None
    by: str
    at: Time | None


class ParameterView(ApiModel):
    name: str
    title: str
    kind: Literal["number", "text", "boolean"]
    value: str = Field(description="Value in effect on the requested host, or on every host.")
    where: str = Field(
        description="Where the value is set: `every host`, `group web`, `host web-1`; empty for the default."
    )
    usual: str
    bounds: str = Field(description="Allowed values, in words.")
    least: float | None
    most: float | None
    choices: list[str]
    rules: list[str]
    set_for: list[ParameterSet]


class ParameterList(ApiModel):
    skill: str
    parameters: list[ParameterView]


@router.get("/parameters", responses=build_problem_responses("unknown-host", "unknown-skill"))
@viewers
@declare_example(query={"host": "fixture"})
def list_parameters(
    session: TheSession, runtime: TheRuntime, skill: _Skill = "stig", host: _Host = ""
) -> ParameterList:
    """List all parameters of a skill's rules."""
    found = list_parameter_states(session, skill, host, runtime.settings.hosts_folder)
    return ParameterList(skill=skill, parameters=[_to_parameter_view(one) for one in found])


@router.put(
    "/parameters/{parameter}",
    responses=build_problem_responses("not-found", "unknown-host", "unknown-skill", "too-many", *BODY_PROBLEMS),
)
@operators
@declare_example({"value": "20", "host": "fixture"})
def put_parameter(parameter: Name, order: ParameterOrder, session: TheSession, runtime: TheRuntime) -> ParameterSet:
    """Set a value for runs that start from now on. The nearest scope wins: host, then group, then all hosts."""
    asked = {name: value or "" for name, value in order}
    wish = ParameterSpec(name=parameter, by=get_name_to_record("api"), **asked)
    return _to_parameter_set(set_parameter(session, wish, runtime.clock.now(), runtime.settings.hosts_folder))


@router.delete(
    "/parameters/{parameter}",
    status_code=204,
    responses=build_problem_responses("not-found", "unknown-host", "unknown-skill"),
)
@operators
@declare_example(query={"host": "fixture"})
def delete_parameter(
    parameter: Name,
    session: TheSession,
    runtime: TheRuntime,
    skill: _Skill = "stig",
    host: _Host = "",
    group: Annotated[str, Query(max_length=LONGEST["group"])] = "",
) -> None:
    """Remove a value; the next nearest one applies again."""
    wish = ParameterSpec(name=parameter, host=host, group=group, skill=skill, by=get_name_to_record("api"))
    delete_parameter_value(session, wish, runtime.settings.hosts_folder)


def _to_parameter_view(parameter_state: ParameterState) -> ParameterView:
    set_for = [_to_parameter_set(row) for row in parameter_state.set_for]
    return ParameterView.from_source(
        parameter_state.parameter, value=parameter_state.value, where=parameter_state.where, set_for=set_for
    )


def _to_parameter_set(row: ParameterRow) -> ParameterSet:
    scope = {kind: row.scope_name if row.scope_kind == kind else None for kind in ("host", "group")}
    return ParameterSet.from_source(row, **scope)
