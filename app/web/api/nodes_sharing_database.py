"""The nodes that share the database."""

from typing import Literal

from pydantic import Field

from app.people.rights import viewers
from app.store import nodes
from app.targets.host_locks_held_too_long import find_hosts_held_long_while_others_wait
from app.web.api.api_model import ApiModel, Figure, Time, create_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
from app.web.deps import TheRuntime, TheSession

router = api_router("nodes")


class NodeView(ApiModel):
    name: str
    kind: Literal["serve", "worker", "run"]
    started_at: Time
    silent: Figure = Field(
        description="Time since its last heartbeat. After five seconds other nodes take over its runs."
    )
    leads: bool = Field(
        description="This node is the leader: it samples the machine, starts schedules and sends webhooks."
    )
    clock_off: Figure = Field(description="How far its own clock is ahead of the database's, which dates everything.")
    runs: list[str] = Field(description="Runs that the node works on.")
    answers: bool = Field(description="This node answered the request.")


class NodeList(ApiModel):
    shared: bool = Field(
        description="True if several nodes can share this database; otherwise this process is the only one."
    )
    nodes: list[NodeView]
    given_up: list[str] = Field(description="Nodes that fell silent within the last hour and did not come back.")
    held: list[str] = Field(description="Which process of this machine keeps which host from another, since when.")


@router.get("/nodes", responses=build_problem_responses())
@viewers
def list_nodes(session: TheSession, runtime: TheRuntime) -> NodeList:
    """List the nodes at work, oldest first. Empty on SQLite, where this process is the only one."""
    held = [one.sentence for one in find_hosts_held_long_while_others_wait(runtime.settings.hosts_folder)]
    if runtime.leases is None:
        return NodeList(shared=False, nodes=[], given_up=[], held=held)
    now = runtime.clock.now()
    views = [
        NodeView.from_source(
            one,
            silent=create_figure(round(one.silent_seconds, 1), "s", "measured", "the database's clock", now),
            clock_off=create_figure(round(one.clock_off, 3), "s", "measured", "against the database's clock", now),
            answers=one.name == runtime.leases.node,
        )
        for one in nodes.list_unended_node_statuses(session)
    ]
    lost = [one.name for one in nodes.list_given_up_nodes(session)]
    return NodeList(shared=True, nodes=views, given_up=lost, held=held)
