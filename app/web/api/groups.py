"""Groups of hosts."""

from typing import Annotated

from fastapi import Path as InPath
from pydantic import Field

from app.people.rights import operators, viewers
from app.runs.rollout.host_selection import MOST_HOSTS, drop_group, save_group
from app.store.host_groups import read_groups
from app.web.api.api_model import ApiModel, declare_field
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.deps import TheRuntime, TheSession

router = api_router("hosts")


class GroupView(ApiModel):
    name: str
    hosts: list[str]


class GroupList(ApiModel):
    groups: list[GroupView]


class GroupOrder(ApiModel):
    hosts: Annotated[
        list[Annotated[str, Field(max_length=64)]],
        declare_field(minItems=1, maxItems=MOST_HOSTS, description="Names, patterns and other groups, resolved now."),
    ]


@router.get("/groups", responses=document_problems())
@viewers
def list_groups(session: TheSession) -> GroupList:
    return GroupList(groups=[GroupView(name=name, hosts=list(hosts)) for name, hosts in read_groups(session).items()])


@router.put(
    "/groups/{group}",
    responses=document_problems("not-found", "unknown-host", "exists", "too-large", "wrong-content-type"),
)
@operators
def keep_group(
    group_: Annotated[str, InPath(alias="group", max_length=64)],
    order: GroupOrder,
    session: TheSession,
    runtime: TheRuntime,
) -> GroupView:
    """Set the hosts of a group, replacing those it had."""
    return GroupView(name=group_, hosts=list(save_group(session, group_, order.hosts, runtime.settings.hosts_folder)))


@router.delete("/groups/{group}", status_code=204, responses=document_problems("not-found"))
@operators
def delete_group(group_: Annotated[str, InPath(alias="group", max_length=64)], session: TheSession) -> None:
    """Delete a group. Its hosts stay."""
    drop_group(session, group_)
