"""Hosts that can be hardened, and a scan of one as it is."""

import asyncio
from typing import Annotated, Literal

from fastapi import Path, Query, Response
from pydantic import Field

from app.errors import BadInput
from app.events.words import Word
from app.people.rights import admins, operators, viewers
from app.runs.introduce import HostWish, add_met, meet
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.store import queries
from app.store.groups import groups
from app.store.standing import forget_host
from app.targets import registry
from app.targets.catalog import FIXTURE, known_host
from app.targets.registry import RegisteredHost
from app.web.addresses import path_to
from app.web.api.problem import Problem, blamed, documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire
from app.web.deps import TheRuntime, TheSession

router = api_router("hosts")

_TITLE = "A RHEL 9 shaped tree of real files, built in"


class HostView(Wire):
    name: str
    kind: str
    title: str
    simulated: bool = Field(description="True where no machine stands behind it.")
    run: str | None = Field(description="The run that works on it now.")
    place: str | None = Field(default=None, description="Account, address and port; None where no machine is reached.")
    way: str | None = Field(default=None, description="What we log in with: key, agent or password.")
    fingerprint: str | None = Field(default=None, description="Of the host key that was accepted.")
    groups: list[str] = Field(default=[], description="That it is in.")


class HostList(Wire):
    hosts: list[HostView]


class HostOrder(Wire):
    """Never send secrets: name a key by its file on the server, a password by the variable that holds it."""

    name: Annotated[str, Field(min_length=1, max_length=64, examples=["fixture"])]
    kind: Annotated[str, Field(min_length=1, max_length=32, examples=["fixture", "ssh"])]
    place: Annotated[str, Field(max_length=320, description="user@address or user@address:port.")] = ""
    way: Literal["key", "agent", "password"] = "key"
    secret_at: Annotated[
        str,
        Field(
            max_length=1024,
            description="The key's file, or the variable, TEMPER_SSH_…, with the password; TEMPER_SSH_…_FOR beside it "
            "names the one host that it is for, as user@address:port and the fingerprint of its key.",
        ),
    ] = ""
    accept_key: Annotated[
        str, Field(max_length=100, description="SHA256:… of the host key. Left out, the answer says which is shown.")
    ] = ""


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
@viewers
def list_hosts(session: TheSession, runtime: TheRuntime) -> HostList:
    hosts = runtime.settings.hosts
    added = (_added(session, one) for one in registry.listed(hosts))
    return HostList(hosts=[*(_fixture(session, name) for name in registry.fixtures(hosts)), *added])


@router.post(
    "/hosts",
    status_code=201,
    responses=documented("unsupported-host", "host-key", "too-large", "wrong-content-type", "unavailable"),
)
@admins
def add_host(order: HostOrder, session: TheSession, runtime: TheRuntime, response: Response) -> HostView:
    """Add a host over SSH, after its key is accepted, a login works and a change could be rolled back there."""
    response.headers["location"] = path_to("show_host", host=order.name)
    if order.kind == FIXTURE:
        if not registry.is_fixture(order.name):
            said = f"The fixtures are {FIXTURE!r} and '{FIXTURE}-2' to '{FIXTURE}-99'; they need not be added."
            raise Problem("unsupported-host", said, field="name")
        return _fixture(session, order.name)
    if order.kind != "ssh":
        said = f"A host of kind {order.kind[:32]!a} cannot be added: choose ssh, or the {FIXTURE!r}, which is there."
        raise Problem("unsupported-host", said, field="kind")
    hosts = runtime.settings.hosts
    wish = HostWish(**order.model_dump(exclude={"kind"}))
    added = add_met(wish, meet(wish, hosts), hosts).host
    runtime.told_of(order.name)
    return _added(session, added)


@router.get("/hosts/{host}", responses=documented("not-found", "unavailable"))
@viewers
def show_host(host: Annotated[str, Path(max_length=64)], session: TheSession, runtime: TheRuntime) -> HostView:
    if registry.is_fixture(host):
        return _fixture(session, host)
    found = _find(host, runtime)
    if found is None:
        raise Problem("not-found", f"There is no host {host!a}: GET /api/v1/hosts lists them.", field="host")
    return _added(session, found)


@router.delete("/hosts/{host}", status_code=204, responses=documented("not-found", "busy"))
@admins
def remove_host(host: Annotated[str, Path(max_length=64)], session: TheSession, runtime: TheRuntime) -> None:
    """Remove a host that was added. Nothing is changed on it, and its journals are kept."""
    hosts = runtime.settings.hosts
    if _find(host, runtime) is None:
        raise Problem("not-found", f"There is no host {host!a} that was added.", field="host")
    if under_way := queries.unended(session, host):
        raise Problem("busy", f"The run {under_way[0].id} is not ended: stop it first.", field="host")
    try:
        registry.remove(hosts, host)
        forget_host(session, host)
    except BadInput as exc:
        raise Problem("busy", str(exc), field="host") from exc
    runtime.told_of(host)


@router.post("/hosts/{host}/scan", responses=documented("not-found", "unknown-skill", "unavailable"))
@operators
async def scan_host(
    host: Annotated[str, Path(max_length=64)],
    runtime: TheRuntime,
    skill_name: Annotated[str, Query(alias="skill", max_length=64)] = "stig",
) -> ScanView:
    """Scan a host now. Nothing is changed, and no run is started."""
    await asyncio.to_thread(_known, host, skill_name, runtime)
    scanner, verdicts = await runtime.scan(host, skill_name)
    views = [
        VerdictView(rule=one.rule, word=one.word, evidence=one.evidence, path=one.path, line=one.line)
        for one in verdicts
    ]
    return ScanView(host=host, skill=skill_name, scanner=scanner, simulated=registry.is_fixture(host), verdicts=views)


def _known(host: str, skill_name: str, runtime: Runtime) -> None:
    with blamed("host", "not-found"):
        known_host(host, runtime.settings.hosts)
    with blamed("skill", "unknown-skill"):
        skill(skill_name)


def _find(name: str, runtime: TheRuntime) -> RegisteredHost | None:
    try:
        return registry.find(runtime.settings.hosts, name)
    except BadInput as exc:
        raise Problem("unavailable", str(exc)) from exc


def _fixture(session: TheSession, name: str) -> HostView:
    return HostView(
        name=name,
        kind=FIXTURE,
        title=_TITLE,
        simulated=True,
        run=_under_way(session, name),
        groups=_groups(session, name),
    )


def _added(session: TheSession, one: RegisteredHost) -> HostView:
    return HostView(
        name=one.name,
        kind="ssh",
        title=one.title or f"{one.end} over SSH",
        simulated=False,
        run=_under_way(session, one.name),
        place=str(one.end),
        way=one.end.way,
        fingerprint=one.fingerprint,
        groups=_groups(session, one.name),
    )


def _groups(session: TheSession, host: str) -> list[str]:
    return [name for name, hosts in groups(session).items() if host in hosts]


def _under_way(session: TheSession, host: str) -> str | None:
    return next((row.id for row in queries.unended(session, host) if row.state != "queued"), None)
