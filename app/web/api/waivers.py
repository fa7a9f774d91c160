"""Waivers: findings accepted by an owner until a date."""

import time
from typing import Annotated

from fastapi import Path as InPath
from fastapi import Query, Response
from pydantic import Field

from app.people.rights import operators, signed, viewers
from app.runs.waive import LONGEST, WaiverWish, end_waiver, waive
from app.store import waivers
from app.store.waivers import WaiverRow, WaiverState
from app.web.addresses import path_to
from app.web.api.order import HostName, SkillName
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire, stated, when
from app.web.deps import TheRuntime, TheSession

router = api_router("waivers")

Id = Annotated[str, InPath(max_length=40)]
GroupName = Annotated[str, stated(maxLength=LONGEST["group"], examples=["web"])]


class WaiverOrder(Wire):
    rule: Annotated[str, stated(maxLength=LONGEST["rule"], examples=["V-257985"])]
    host: Annotated[HostName | None, Field(description="Left out, as group is: on every host.")] = None
    group: Annotated[
        GroupName | None, Field(description="Instead of host: on whichever hosts are in it as a run begins.")
    ] = None
    owner: Annotated[str, stated(maxLength=LONGEST["owner"], description="Who answers for it.", examples=["Ops lead"])]
    reason: Annotated[str, stated(maxLength=LONGEST["reason"], examples=["The old client cannot do without."])]
    ticket: Annotated[str, stated(maxLength=LONGEST["ticket"], examples=["CHG-7"])] = ""
    until: Annotated[
        str, stated(description="The day on which it ends, UTC; within a year.", examples=["2027-01-31"], maxLength=40)
    ]
    skill: SkillName = "stig"


class WaiverEnd(Wire):
    reason: Annotated[str, stated(maxLength=LONGEST["reason"], description="Why it ends before its day.")]


class WaiverView(Wire):
    id: str
    rule: str
    host: str | None = Field(description="None, as group is: every host.")
    group: str | None
    owner: str
    reason: str
    ticket: str
    until: str = Field(description="The day on which it ends: from then on the finding is open as any other.")
    state: WaiverState
    by: str
    made_at: str
    ended_at: str | None = Field(description="When it was taken back, before its day.")
    ended_by: str
    ended_why: str


class WaiverList(Wire):
    waivers: list[WaiverView]


@router.get("/waivers", responses=documented())
@viewers
def list_waivers(
    session: TheSession,
    in_force: Annotated[bool, Query(description="Only those that hold now.")] = False,
) -> WaiverList:
    """List waivers, those that end first first."""
    now = time.time()
    return WaiverList(
        waivers=[_view(row, now) for row in waivers.waivers(session) if row.in_force(now) or not in_force]
    )


@router.post("/waivers", status_code=201, responses=documented("exists", "too-many", "too-large", "wrong-content-type"))
@operators
def add_waiver(order: WaiverOrder, session: TheSession, runtime: TheRuntime, response: Response) -> WaiverView:
    """Add a waiver. From the next run on the finding is skipped; every paper still lists it."""
    now = time.time()
    asked = order.model_dump() | {"host": order.host or "", "group": order.group or "", "by": signed("api")}
    row = waive(session, WaiverWish(**asked), now, runtime.settings.hosts)
    response.headers["location"] = path_to("show_waiver", waiver=row.id)
    return _view(row, now)


@router.get("/waivers/{waiver}", responses=documented("not-found"))
@viewers
def show_waiver(waiver: Id, session: TheSession) -> WaiverView:
    return _view(waivers.known(session, waiver), time.time())


@router.post("/waivers/{waiver}/end", responses=documented("not-found"))
@operators
def take_waiver_back(waiver: Id, order: WaiverEnd, session: TheSession) -> WaiverView:
    """End a waiver before its date. Runs in progress keep the waivers they started with."""
    now = time.time()
    return _view(end_waiver(session, waiver, now, by=signed("api"), why=order.reason), now)


def _view(row: WaiverRow, now: float) -> WaiverView:
    return WaiverView(
        id=row.id,
        rule=row.rule,
        host=row.scope_name if row.scope_kind == "host" else None,
        group=row.scope_name if row.scope_kind == "group" else None,
        owner=row.owner,
        reason=row.reason,
        ticket=row.ticket,
        until=row.until,
        state=row.state(now),
        by=row.by,
        made_at=when(row.made_at) or "",
        ended_at=when(row.ended_at),
        ended_by=row.ended_by,
        ended_why=row.ended_why,
    )
