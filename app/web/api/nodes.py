"""The nodes that share the database."""

import time
from typing import Literal

from pydantic import Field

from app.people.rights import viewers
from app.store import nodes
from app.web.api.api_model import ApiModel, Figure, create_figure, format_time
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.deps import TheRuntime, TheSession

router = api_router("nodes")


Kind = Literal["serve", "worker", "run"]


class NodeView(ApiModel):
    name: str
    kind: Kind
    started_at: str
    silent: Figure = Field(
        description="Time since its last heartbeat. After five seconds other nodes take over its runs."
    )
    leads: bool = Field(
        description="This node is the leader: it samples the machine, starts schedules and sends webhooks."
    )
    runs: list[str] = Field(description="Runs that the node works on.")
    answers: bool = Field(description="This node answered the request.")


class NodeList(ApiModel):
    shared: bool = Field(
        description="True if several nodes can share this database; otherwise this process is the only one."
    )
    nodes: list[NodeView]


@router.get("/nodes", responses=document_problems())
@viewers
def list_nodes(session: TheSession, runtime: TheRuntime) -> NodeList:
    """List the nodes at work, oldest first. Empty on SQLite, where this process is the only one."""
    if runtime.leases is None:
        return NodeList(shared=False, nodes=[])
    views = [
        NodeView(
            name=one.name,
            kind=one.kind,  # type: ignore[arg-type]
            started_at=format_time(one.started_at) or "",
            silent=create_figure(round(one.silent_seconds, 1), "s", "measured", "the database's clock", time.time()),
            leads=one.leads,
            runs=list(one.runs),
            answers=one.name == runtime.leases.node,
        )
        for one in nodes.list_node_statuses(session)
    ]
    return NodeList(shared=True, nodes=views)
