"""Groups of hosts."""

from typing import Annotated

from fastapi import Path as InPath
from pydantic import Field

from app.people.rights import operators, viewers
from app.runs.rollout.chosen import MOST_HOSTS, group, ungroup
from app.store.groups import groups
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire, stated
from app.web.deps import TheRuntime, TheSession

router = api_router("hosts")


class GroupView(Wire):
    name: str
    hosts: list[str]


class GroupList(Wire):
    groups: list[GroupView]


class GroupOrder(Wire):
    hosts: Annotated[
        list[Annotated[str, Field(max_length=64)]],
        stated(minItems=1, maxItems=MOST_HOSTS, description="Names, patterns and other groups, as they stand now."),
    ]


@router.get("/groups", responses=documented())
@viewers
def list_groups(session: TheSession) -> GroupList:
    return GroupList(groups=[GroupView(name=name, hosts=list(hosts)) for name, hosts in groups(session).items()])


@router.put(
    "/groups/{group}", responses=documented("not-found", "unknown-host", "exists", "too-large", "wrong-content-type")
)
@operators
def keep_group(
    group_: Annotated[str, InPath(alias="group", max_length=64)],
    order: GroupOrder,
    session: TheSession,
    runtime: TheRuntime,
) -> GroupView:
    """Set the hosts of a group, replacing those it had."""
    return GroupView(name=group_, hosts=list(group(session, group_, order.hosts, runtime.settings.hosts)))


@router.delete("/groups/{group}", status_code=204, responses=documented("not-found"))
@operators
def delete_group(group_: Annotated[str, InPath(alias="group", max_length=64)], session: TheSession) -> None:
    """Delete a group. Its hosts stay."""
    ungroup(session, group_)
