"""Hosts that can be hardened, and a scan of one as it is."""

import asyncio
from typing import Annotated, Literal

from fastapi import Path, Query, Response
from pydantic import Field

from app.errors import BadInput
from app.events.vocabulary import Word
from app.people.rights import admins, operators, viewers
from app.runs.host_registration import HostSpec, fetch_host_key, register_host
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.store import queries
from app.store.host_groups import read_groups
from app.store.host_standing import forget_host
from app.targets import host_registry
from app.targets.host_registry import FIXTURE, RegisteredHost, require_known_host
from app.web.addresses import path_to
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, blame_field, document_problems
from app.web.deps import TheRuntime, TheSession

router = api_router("hosts")

_TITLE = "A RHEL 9 shaped tree of real files, built in"


class HostView(ApiModel):
    name: str
    kind: str
    title: str
    simulated: bool = Field(description="True if the host is simulated by files.")
    run: str | None = Field(description="The run in progress on this host.")
    place: str | None = Field(
        default=None, description="Account, address and port; None if the host is not reached over SSH."
    )
    way: str | None = Field(default=None, description="How Temper logs in: key, agent or password.")
    fingerprint: str | None = Field(default=None, description="Fingerprint of the accepted host key.")
    groups: list[str] = Field(default=[], description="Groups that contain the host.")


class HostList(ApiModel):
    hosts: list[HostView]


class HostOrder(ApiModel):
    """Never send secrets: name a key by its file on the server, a password by the variable that holds it."""

    name: Annotated[str, Field(min_length=1, max_length=64, examples=["fixture"])]
    kind: Annotated[str, Field(min_length=1, max_length=32, examples=["fixture", "ssh"])]
    place: Annotated[str, Field(max_length=320, description="user@address or user@address:port.")] = ""
    way: Literal["key", "agent", "password"] = "key"
    secret_at: Annotated[
        str,
        Field(
            max_length=1024,
            description="File of the private key, or the variable TEMPER_SSH_… with the password. The variable "
            "TEMPER_SSH_…_FOR then names the one host that may receive it: user@address:port and the "
            "fingerprint of its key.",
        ),
    ] = ""
    accept_key: Annotated[
        str,
        Field(
            max_length=100,
            description="SHA256:… fingerprint of the host key. Without it, the answer contains the key that the "
            "host shows.",
        ),
    ] = ""


class VerdictView(ApiModel):
    rule: str
    word: Word
    evidence: str
    path: str | None
    line: int | None


class ScanView(ApiModel):
    host: str
    skill: str
    scanner: str = Field(description="The scanner that produced the verdicts.")
    simulated: bool
    verdicts: list[VerdictView]


@router.get("/hosts", responses=document_problems())
@viewers
def list_hosts(session: TheSession, runtime: TheRuntime) -> HostList:
    hosts = runtime.settings.hosts_folder
    added = (_to_added_view(session, one) for one in host_registry.list_hosts(hosts))
    return HostList(hosts=[*(_to_fixture_view(session, name) for name in host_registry.list_fixtures(hosts)), *added])


@router.post(
    "/hosts",
    status_code=201,
    responses=document_problems("unsupported-host", "host-key", "too-large", "wrong-content-type", "unavailable"),
)
@admins
def add_host(order: HostOrder, session: TheSession, runtime: TheRuntime, response: Response) -> HostView:
    """Add a host over SSH, after its key is accepted, a login works and a change could be rolled back there."""
    response.headers["location"] = path_to("show_host", host=order.name)
    if order.kind == FIXTURE:
        if not host_registry.is_fixture(order.name):
            said = f"The fixtures are {FIXTURE!r} and '{FIXTURE}-2' to '{FIXTURE}-99'; they need not be added."
            raise Problem("unsupported-host", said, field="name")
        return _to_fixture_view(session, order.name)
    if order.kind != "ssh":
        said = f"A host of kind {order.kind[:32]!a} cannot be added: choose ssh, or the {FIXTURE!r}, which is there."
        raise Problem("unsupported-host", said, field="kind")
    hosts = runtime.settings.hosts_folder
    wish = HostSpec(**order.model_dump(exclude={"kind"}))
    added = register_host(wish, fetch_host_key(wish, hosts), hosts).host
    runtime.publish_host(order.name)
    return _to_added_view(session, added)


@router.get("/hosts/{host}", responses=document_problems("not-found", "unavailable"))
@viewers
def show_host(host: Annotated[str, Path(max_length=64)], session: TheSession, runtime: TheRuntime) -> HostView:
    if host_registry.is_fixture(host):
        return _to_fixture_view(session, host)
    found = _find_host(host, runtime)
    if found is None:
        raise Problem("not-found", f"There is no host {host!a}: GET /api/v1/hosts lists them.", field="host")
    return _to_added_view(session, found)


@router.delete("/hosts/{host}", status_code=204, responses=document_problems("not-found", "busy"))
@admins
def remove_host(host: Annotated[str, Path(max_length=64)], session: TheSession, runtime: TheRuntime) -> None:
    """Remove a host that was added. Nothing is changed on it, and its journals are kept."""
    hosts = runtime.settings.hosts_folder
    if _find_host(host, runtime) is None:
        raise Problem("not-found", f"There is no added host {host!a}.", field="host")
    if under_way := queries.list_unended_runs(session, host):
        raise Problem("busy", f"Run {under_way[0].id} has not ended: stop it first.", field="host")
    try:
        host_registry.remove_host(hosts, host)
        forget_host(session, host)
    except BadInput as exc:
        raise Problem("busy", str(exc), field="host") from exc
    runtime.publish_host(host)


@router.post("/hosts/{host}/scan", responses=document_problems("not-found", "unknown-skill", "unavailable"))
@operators
async def scan_host(
    host: Annotated[str, Path(max_length=64)],
    runtime: TheRuntime,
    skill_name: Annotated[str, Query(alias="skill", max_length=64)] = "stig",
) -> ScanView:
    """Scan a host now. Nothing is changed, and no run is started."""
    await asyncio.to_thread(_require_host_and_skill, host, skill_name, runtime)
    scanner, verdicts = await runtime.scan_host(host, skill_name)
    views = [
        VerdictView(rule=one.rule, word=one.word, evidence=one.evidence, path=one.path, line=one.line)
        for one in verdicts
    ]
    return ScanView(
        host=host, skill=skill_name, scanner=scanner, simulated=host_registry.is_fixture(host), verdicts=views
    )


def _require_host_and_skill(host: str, skill_name: str, runtime: Runtime) -> None:
    with blame_field("host", "not-found"):
        require_known_host(host, runtime.settings.hosts_folder)
    with blame_field("skill", "unknown-skill"):
        load_skill(skill_name)


def _find_host(name: str, runtime: TheRuntime) -> RegisteredHost | None:
    try:
        return host_registry.find_host(runtime.settings.hosts_folder, name)
    except BadInput as exc:
        raise Problem("unavailable", str(exc)) from exc


def _to_fixture_view(session: TheSession, name: str) -> HostView:
    return HostView(
        name=name,
        kind=FIXTURE,
        title=_TITLE,
        simulated=True,
        run=_find_active_run(session, name),
        groups=_find_groups_of(session, name),
    )


def _to_added_view(session: TheSession, one: RegisteredHost) -> HostView:
    return HostView(
        name=one.name,
        kind="ssh",
        title=one.title or f"{one.end} over SSH",
        simulated=False,
        run=_find_active_run(session, one.name),
        place=str(one.end),
        way=one.end.way,
        fingerprint=one.fingerprint,
        groups=_find_groups_of(session, one.name),
    )


def _find_groups_of(session: TheSession, host: str) -> list[str]:
    return [name for name, hosts in read_groups(session).items() if host in hosts]


def _find_active_run(session: TheSession, host: str) -> str | None:
    return next((row.id for row in queries.list_unended_runs(session, host) if row.state != "queued"), None)
