"""Waivers: findings accepted by an owner until a date."""

from typing import Annotated

from fastapi import Path as InPath
from fastapi import Query, Response
from pydantic import Field

from app.people.rights import get_name_to_record, operators, viewers
from app.runs.waiver_changes import LONGEST, WaiverSpec, create_waiver, end_waiver
from app.store import waivers
from app.store.database_clock import database_time
from app.store.waivers import WaiverRow, WaiverState
from app.web.api.api_model import ApiModel, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.api.run_order_models import HostName, SkillName
from app.web.deps import TheRuntime, TheSession
from app.web.url_paths import path_to

router = api_router("waivers")

Id = Annotated[str, InPath(max_length=40)]
GroupName = Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST["group"], examples=["web"])]


class WaiverOrder(ApiModel):
    rule: str = declare_field_with_unchecked_bounds(maxLength=LONGEST["rule"], examples=["V-257985"])
    host: HostName | None = Field(default=None, description="Host of the waiver. Without host and group: every host.")
    group: GroupName | None = Field(
        default=None, description="Instead of host: the hosts that are in this group when a run starts."
    )
    owner: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["owner"], description="Owner of the waiver, who accepts the risk.", examples=["Ops lead"]
    )
    reason: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["reason"], examples=["The old client cannot do without."]
    )
    ticket: str = declare_field_with_unchecked_bounds(default="", maxLength=LONGEST["ticket"], examples=["CHG-7"])
    until: str = declare_field_with_unchecked_bounds(
        description="Date (UTC) on which the waiver ends; at most a year ahead.", examples=["2027-01-31"], maxLength=40
    )
    skill: SkillName = "stig"


class WaiverEnd(ApiModel):
    reason: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["reason"], description="Why the waiver ends early."
    )


class WaiverView(ApiModel):
    id: str
    rule: str
    host: str | None = Field(description="Host of the waiver; if host and group are None, every host.")
    group: str | None
    owner: str
    reason: str
    ticket: str
    until: str = Field(description="Date on which the waiver ends. From then on the finding is open again.")
    state: WaiverState
    by: str
    made_at: Time
    ended_at: Time | None = Field(description="Time at which the waiver was ended early.")
    ended_by: str
    ended_why: str


class WaiverList(ApiModel):
    waivers: list[WaiverView]


@router.get("/waivers", responses=build_problem_responses())
@viewers
@declare_example(query={"in_force": "true"})
def list_waivers(
    session: TheSession, in_force: Annotated[bool, Query(description="Only waivers in force.")] = False
) -> WaiverList:
    """List waivers, those that end first first."""
    now = database_time(session)
    rows = [row for row in waivers.list_waivers(session) if row.is_in_force(now) or not in_force]
    return WaiverList(waivers=[_to_waiver_view(row, now) for row in rows])


@router.post("/waivers", status_code=201, responses=build_problem_responses("exists", "too-many", *BODY_PROBLEMS))
@operators
@declare_example(
    {
        "rule": "V-257985",
        "host": "fixture",
        "owner": "Ops lead",
        "reason": "The old client cannot do without.",
        "ticket": "CHG-7",
        "until": "2027-01-31",
    }
)
def add_waiver(order: WaiverOrder, session: TheSession, runtime: TheRuntime, response: Response) -> WaiverView:
    """Add a waiver. From the next run on the finding is skipped; every paper still lists it."""
    now = database_time(session)
    wish = WaiverSpec(**{name: value or "" for name, value in order}, by=get_name_to_record("api"))
    row = create_waiver(session, wish, now, runtime.settings.hosts_folder)
    response.headers["location"] = path_to("show_waiver", waiver=row.id)
    return _to_waiver_view(row, now)


@router.get("/waivers/{waiver}", responses=build_problem_responses("not-found"))
@viewers
def show_waiver(waiver: Id, session: TheSession) -> WaiverView:
    """Show a waiver."""
    return _to_waiver_view(waivers.require_waiver(session, waiver), database_time(session))


@router.post("/waivers/{waiver}/end", responses=build_problem_responses("not-found"))
@operators
@declare_example({"reason": "The old client is gone."})
def take_waiver_back(waiver: Id, order: WaiverEnd, session: TheSession) -> WaiverView:
    """End a waiver before its date. Runs in progress keep the waivers they started with."""
    now = database_time(session)
    return _to_waiver_view(end_waiver(session, waiver, now, by=get_name_to_record("api"), why=order.reason), now)


def _to_waiver_view(row: WaiverRow, now: float) -> WaiverView:
    scope = {kind: row.scope_name if row.scope_kind == kind else None for kind in ("host", "group")}
    return WaiverView.from_source(row, state=row.state(now), **scope)
