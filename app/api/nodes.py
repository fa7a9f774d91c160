"""The processes that share the database."""

from pydantic import Field

from app.api.problem import documented
from app.api.route import router as api_router
from app.api.wire import Wire, when
from app.deps import TheSession, TheWorker
from app.store import nodes

router = api_router("nodes")


class NodeView(Wire):
    name: str
    kind: str = Field(description="serve, worker or run.")
    started_at: str
    silent_seconds: float = Field(description="Since its last sign of life; after five its runs are taken over.")
    leads: bool = Field(description="It keeps the machine's log, the schedules and the webhooks for all.")
    runs: list[str] = Field(description="Those it works on.")
    answers: bool = Field(description="It is the one that answers you.")


class NodeList(Wire):
    shared: bool = Field(description="Several nodes may work on this database; else this process is the only one.")
    nodes: list[NodeView]


@router.get("/nodes", responses=documented())
def list_nodes(session: TheSession, worker: TheWorker) -> NodeList:
    """Who is at work, longest first. Empty where the database is a file of this process alone."""
    if worker.leases is None:
        return NodeList(shared=False, nodes=[])
    views = [
        NodeView(
            name=one.name,
            kind=one.kind,
            started_at=when(one.started_at) or "",
            silent_seconds=round(one.silent_seconds, 1),
            leads=one.leads,
            runs=list(one.runs),
            answers=one.name == worker.leases.node,
        )
        for one in nodes.standings(session)
    ]
    return NodeList(shared=True, nodes=views)
