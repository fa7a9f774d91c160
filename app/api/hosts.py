"""The hosts that can be hardened, and a scan of one as it stands."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from app.api.problem import Problem, documented
from app.api.route import router as api_router
from app.api.wire import Wire
from app.deps import TheSession, TheWorker
from app.errors import BadInput
from app.events.words import Word
from app.skills.catalog import skill
from app.store import queries
from app.targets.catalog import FIXTURE, known_host

router = api_router("hosts")

_TITLE = "A RHEL 9 shaped tree of real files, built in"


class HostView(Wire):
    name: str
    kind: str
    title: str
    simulated: bool = Field(description="True where no machine stands behind it.")
    run: str | None = Field(description="The run that works on it now.")


class HostList(Wire):
    hosts: list[HostView]


class HostOrder(Wire):
    name: Annotated[str, Field(min_length=1, max_length=64, examples=["fixture"])]
    kind: Annotated[str, Field(min_length=1, max_length=32, examples=["fixture"])]


class VerdictView(Wire):
    rule: str
    word: Word
    evidence: str
    path: str | None
    line: int | None


class ScanView(Wire):
    host: str
    skill: str
    scanner: str = Field(description="Who gave the verdicts.")
    simulated: bool
    verdicts: list[VerdictView]


@router.get("/hosts", responses=documented())
def list_hosts(session: TheSession) -> HostList:
    return HostList(hosts=[_fixture(session)])


@router.post("/hosts", status_code=201, responses=documented("unsupported-host", "too-large", "wrong-content-type"))
def add_host(order: HostOrder, session: TheSession) -> HostView:
    """Add a host. The built-in fixture is always there, so adding it changes nothing."""
    if order.kind != FIXTURE:
        said = f"A host of kind {order.kind[:32]!a} cannot be added: the one kind of this version is {FIXTURE!r}."
        raise Problem("unsupported-host", said, field="kind")
    if order.name != FIXTURE:
        raise Problem("unsupported-host", f"There is one fixture, and its name is {FIXTURE!r}.", field="name")
    return _fixture(session)


@router.post("/hosts/{host}/scan", responses=documented("not-found", "unknown-skill", "unavailable"))
async def scan_host(
    host: Annotated[str, Path(max_length=64)],
    worker: TheWorker,
    skill_name: Annotated[str, Query(alias="skill", max_length=64)] = "stig",
) -> ScanView:
    """What the scanner says now. Nothing is changed, and no run is begun."""
    try:
        known_host(host)
    except BadInput as exc:
        raise Problem("not-found", str(exc), field="host") from exc
    try:
        skill(skill_name)
    except BadInput as exc:
        raise Problem("unknown-skill", str(exc), field="skill") from exc
    scanner, verdicts = await worker.scan(host, skill_name)
    views = [
        VerdictView(rule=one.rule, word=one.word, evidence=one.evidence, path=one.path, line=one.line)
        for one in verdicts
    ]
    return ScanView(host=host, skill=skill_name, scanner=scanner, simulated=host == FIXTURE, verdicts=views)


def _fixture(session: TheSession) -> HostView:
    under_way = [row.id for row in queries.unended(session, FIXTURE) if row.state != "queued"]
    run = under_way[0] if under_way else None
    return HostView(name=FIXTURE, kind=FIXTURE, title=_TITLE, simulated=True, run=run)
