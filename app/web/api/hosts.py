"""Hosts that can be hardened, their groups, and a scan of one host as it is."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import Field

from app.errors import BadInput, convert_bad_input_to_rejected
from app.events.event_field_types import Word
from app.people.rights import admins, operators, viewers
from app.runs.host_registration import HostSpec, fetch_host_key_for_candidate, register_host
from app.runs.rollout.named_host_groups_and_selection import MOST_HOSTS, drop_group, save_group
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.store import run_queries
from app.store.host_groups import read_groups
from app.store.host_rule_states import delete_host_standings_and_memberships
from app.targets import host_registry
from app.targets.host_registry import FIXTURE, RegisteredHost, require_known_host
from app.web.api.api_model import ApiModel, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.deps import TheRuntime, TheSession
from app.web.url_paths import path_to

router = api_router("hosts")

HostName = Annotated[str, Path(max_length=64)]
GroupName = Annotated[str, Path(alias="group", max_length=64)]
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

    name: str = Field(min_length=1, max_length=64, examples=["fixture"])
    kind: str = Field(min_length=1, max_length=32, examples=["fixture", "ssh"])
    place: str = Field(default="", max_length=320, description="user@address or user@address:port.")
    way: Literal["key", "agent", "password"] = "key"
    secret_at: str = Field(
        default="",
        max_length=1024,
        description="File of the private key, or the variable TEMPER_SSH_… with the password. The variable "
        "TEMPER_SSH_…_FOR then names the one host that may receive it: user@address:port and the "
        "fingerprint of its key.",
    )
    accept_key: str = Field(
        default="",
        max_length=100,
        description="SHA256:… fingerprint of the host key. Without it, the answer contains the key that the "
        "host shows.",
    )


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


class GroupView(ApiModel):
    name: str
    hosts: list[str]


class GroupList(ApiModel):
    groups: list[GroupView]


class GroupOrder(ApiModel):
    hosts: list[Annotated[str, Field(max_length=64)]] = declare_field_with_unchecked_bounds(
        minItems=1, maxItems=MOST_HOSTS, description="Names, patterns and other groups, resolved now."
    )


@router.get("/hosts", responses=build_problem_responses())
@viewers
def list_hosts(session: TheSession, runtime: TheRuntime) -> HostList:
    """List the hosts that can be hardened."""
    hosts = runtime.settings.hosts_folder
    every: list[RegisteredHost | str] = [
        *host_registry.list_default_and_existing_fixtures(hosts),
        *host_registry.list_hosts(hosts),
    ]
    return HostList(hosts=[_to_host_view(session, one) for one in every])


@router.post(
    "/hosts",
    status_code=201,
    responses=build_problem_responses("unsupported-host", "host-key", "unavailable", *BODY_PROBLEMS),
)
@admins
@declare_example(
    {
        "name": "web-1",
        "kind": "ssh",
        "place": "temper@192.0.2.10:22",
        "secret_at": "/etc/temper/web-1.key",
        "accept_key": "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    }
)
def add_host(order: HostOrder, session: TheSession, runtime: TheRuntime, response: Response) -> HostView:
    """Add a host over SSH, after its key is accepted, a login works and a change could be rolled back there."""
    response.headers["location"] = path_to("show_host", host=order.name)
    if order.kind == FIXTURE:
        if not host_registry.is_fixture(order.name):
            said = f"The fixtures are {FIXTURE!r} and '{FIXTURE}-2' to '{FIXTURE}-99'; they need not be added."
            raise Problem("unsupported-host", said, field="name")
        return _to_host_view(session, order.name)
    if order.kind != "ssh":
        said = f"A host of kind {order.kind[:32]!a} cannot be added: choose ssh, or the {FIXTURE!r}, which is there."
        raise Problem("unsupported-host", said, field="kind")
    hosts = runtime.settings.hosts_folder
    wish = HostSpec(**order.model_dump(exclude={"kind"}))
    added = register_host(wish, fetch_host_key_for_candidate(wish, hosts), hosts).host
    runtime.store_host_registration(order.name)
    return _to_host_view(session, added)


@router.get("/hosts/{host}", responses=build_problem_responses("not-found", "unavailable"))
@viewers
def show_host(host: HostName, session: TheSession, runtime: TheRuntime) -> HostView:
    """Show one host."""
    found = host if host_registry.is_fixture(host) else _find_registered_host(host, runtime)
    if found is None:
        raise Problem("not-found", f"There is no host {host!a}: GET /api/v1/hosts lists them.", field="host")
    return _to_host_view(session, found)


@router.delete("/hosts/{host}", status_code=204, responses=build_problem_responses("not-found", "busy"))
@admins
def remove_host(host: HostName, session: TheSession, runtime: TheRuntime) -> None:
    """Remove a host that was added. Nothing is changed on it, and its journals are kept."""
    hosts = runtime.settings.hosts_folder
    if _find_registered_host(host, runtime) is None:
        raise Problem("not-found", f"There is no added host {host!a}.", field="host")
    if under_way := run_queries.list_unended_runs(session, host):
        raise Problem("busy", f"Run {under_way[0].id} has not ended: stop it first.", field="host")
    try:
        host_registry.remove_host(hosts, host)
        delete_host_standings_and_memberships(session, host)
    except BadInput as exc:
        raise Problem("busy", str(exc), field="host") from exc
    runtime.store_host_registration(host)


@router.post("/hosts/{host}/scan", responses=build_problem_responses("not-found", "unknown-skill", "unavailable"))
@operators
@declare_example(query={"skill": "stig"}, path={"host": "fixture"})
async def scan_host(
    host: HostName, runtime: TheRuntime, skill_name: Annotated[str, Query(alias="skill", max_length=64)] = "stig"
) -> ScanView:
    """Scan a host now. Nothing is changed, and no run is started."""
    await asyncio.to_thread(_require_known_host_and_skill, host, skill_name, runtime)
    scanner, verdicts = await runtime.scan_host_and_get_scanner_name(host, skill_name)
    views = [VerdictView.from_source(one) for one in verdicts]
    return ScanView(
        host=host, skill=skill_name, scanner=scanner, simulated=host_registry.is_fixture(host), verdicts=views
    )


@router.get("/groups", responses=build_problem_responses())
@viewers
def list_groups(session: TheSession) -> GroupList:
    """List the groups of hosts."""
    return GroupList(groups=[GroupView(name=name, hosts=list(hosts)) for name, hosts in read_groups(session).items()])


@router.put("/groups/{group}", responses=build_problem_responses("not-found", "unknown-host", "exists", *BODY_PROBLEMS))
@operators
@declare_example({"hosts": ["fixture", "fixture-2"]})
def keep_group(group_: GroupName, order: GroupOrder, session: TheSession, runtime: TheRuntime) -> GroupView:
    """Set the hosts of a group, replacing those it had."""
    return GroupView(name=group_, hosts=list(save_group(session, group_, order.hosts, runtime.settings.hosts_folder)))


@router.delete("/groups/{group}", status_code=204, responses=build_problem_responses("not-found"))
@operators
def delete_group(group_: GroupName, session: TheSession) -> None:
    """Delete a group. Its hosts stay."""
    drop_group(session, group_)


def _require_known_host_and_skill(host: str, skill_name: str, runtime: Runtime) -> None:
    with convert_bad_input_to_rejected("host", "not-found"):
        require_known_host(host, runtime.settings.hosts_folder)
    with convert_bad_input_to_rejected("skill", "unknown-skill"):
        load_skill(skill_name)


def _find_registered_host(name: str, runtime: TheRuntime) -> RegisteredHost | None:
    try:
        return host_registry.find_host(runtime.settings.hosts_folder, name)
    except BadInput as exc:
        raise Problem("unavailable", str(exc)) from exc


def _to_host_view(session: TheSession, registered_host_or_fixture_name: RegisteredHost | str) -> HostView:
    """Return a registered host, or a built-in one by its name."""
    name = (
        registered_host_or_fixture_name
        if isinstance(registered_host_or_fixture_name, str)
        else registered_host_or_fixture_name.name
    )
    groups = [group for group, hosts in read_groups(session).items() if name in hosts]
    run = next((row.id for row in run_queries.list_unended_runs(session, name) if row.state != "queued"), None)
    known: dict[str, Any] = {
        "name": name,
        "run": run,
        "groups": groups,
        "simulated": isinstance(registered_host_or_fixture_name, str),
    }
    if isinstance(registered_host_or_fixture_name, str):
        return HostView(**known, kind=FIXTURE, title=_TITLE)
    end, title = (
        registered_host_or_fixture_name.end,
        registered_host_or_fixture_name.title or f"{registered_host_or_fixture_name.end} over SSH",
    )
    return HostView(
        **known,
        kind="ssh",
        title=title,
        place=str(end),
        way=end.way,
        fingerprint=registered_host_or_fixture_name.fingerprint,
    )
