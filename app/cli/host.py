"""`temper host`: add, list, check and remove hosts."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from sqlmodel import Session

from app.cli.existing import is_there
from app.cli.listing import listed
from app.cli.shared_hosts import caught_up, owned
from app.config import Settings
from app.errors import BadInput
from app.runs.scanner import REMOTE
from app.store.db import open_database
from app.store.standing import forget_host
from app.targets import consent, registry
from app.targets.catalog import open_target
from app.targets.ssh.endpoint import Endpoint, Way, endpoint
from app.targets.ssh.introduce import Introduction, check, shown, vouched
from app.targets.ssh.leave import leave
from app.targets.ssh.line import SshLine
from app.text.clean import clean

HEALTHY, NOT_HEALTHY = 0, 2


@dataclass(frozen=True)
class NewHost:
    name: str
    place: str
    key: Path | None
    agent: bool
    password_from: str
    known_hosts: Path | None
    accept_key: str
    watch: tuple[str, ...] = ()


def add_host(settings: Settings, new: NewHost) -> None:
    files = caught_up(settings)
    registry.free(settings.hosts, new.name)
    end = _endpoint(new)
    known = vouched(end, new.known_hosts) if new.known_hosts else _accepted(end, new.accept_key)
    lacking = check(end, known)
    registry.add(settings.hosts, new.name, end, known.known_hosts, known.fingerprint)
    if files:
        files.keep_registration(new.name)
    _say(f"{new.name} is {end}, host key {known.fingerprint}; its runs are in mode review unless told otherwise")
    if lacking:
        _say(f"{new.name} could not be rolled back: {lacking}. It can be looked at; a run that changes it takes")
        _say(f'--without-rollback "{consent.sentence(new.name)}"')


@dataclass(frozen=True)
class HostLine:
    host: str
    simulated: bool
    place: str | None = None
    way: str | None = None
    fingerprint: str | None = None


def list_hosts(settings: Settings, *, as_json: bool = False) -> None:
    caught_up(settings)
    built_in = [HostLine(name, simulated=True) for name in registry.fixtures(settings.hosts)]
    added = [
        HostLine(one.name, simulated=False, place=str(one.end), way=one.end.way, fingerprint=one.fingerprint)
        for one in registry.listed(settings.hosts)
    ]
    listed([*built_in, *added], "", as_json=as_json)


def remove_host(settings: Settings, name: str, *, clean_up: bool = False) -> None:
    files = caught_up(settings)
    if clean_up:
        _leave(settings, name)
    registry.remove(settings.hosts, name)
    if files:
        files.keep_registration(name)
    if is_there(settings):
        with Session(open_database(settings.database)) as session, session.begin():
            forget_host(session, name)
    _say(f"{name} is forgotten; its journals stay in {settings.hosts / name}")


def _leave(settings: Settings, name: str) -> None:
    """Remove Temper's files from the host. Call it while the host is registered, so it can be repeated."""
    found = registry.removable(settings.hosts, name)
    line = SshLine(found.end, settings.hosts / name / "known_hosts")
    try:
        taken = leave(line, REMOTE)
    finally:
        line.close()
    for path in taken:
        _say(f"{name}: removed {path}")
    _say(f"{name}: nothing of ours is left on it" if taken else f"{name}: there was nothing of ours on it")


def check_host(settings: Settings, name: str, *, undo: bool) -> int:
    target = open_target(name, settings.hosts, owned(settings, name))
    try:
        if undo:
            for journal in target.pending():
                undone = target.rollback(journal)
                _say(f"{journal}: {'; '.join(undone.differences) or 'taken back, as it was before'}")
        probes = target.health()
        for probe in probes:
            _say(f"{'ok   ' if probe.ok else 'FAILS'} {probe.name}: {clean(probe.detail, 300)}")
        pending = target.pending() if any(p.ok for p in probes) else []
        for journal in pending:
            _say(f"FAILS the change {clean(journal, 120)} is open: temper host check {name} --undo takes it back")
        return HEALTHY if not pending and all(probe.ok for probe in probes) else NOT_HEALTHY
    finally:
        target.close()


def _endpoint(new: NewHost) -> Endpoint:
    ways: dict[Way, str] = {"key": str(new.key or ""), "agent": "agent" * new.agent, "password": new.password_from}
    given: list[Way] = [way for way, at in ways.items() if at]
    if len(given) != 1:
        raise BadInput("say how to log in, in one way: --key FILE, --agent, or --password-from VARIABLE_OR_FILE.")
    return endpoint(new.place, given[0], "" if given[0] == "agent" else ways[given[0]], new.watch)


def _accepted(end: Endpoint, accept: str) -> Introduction:
    known = asyncio.run(shown(end))
    if accept and accept != known.fingerprint:
        raise BadInput(f"{end} shows the host key {known.fingerprint}, not {clean(accept, 80)}: it is not added.")
    if not accept:
        _say(
            f"{end} shows the host key {known.fingerprint}. On its console: ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub"
        )
        if not typer.confirm("Is it the same there?"):
            raise BadInput("it is not added: compare the keys first.")
    return known


def _say(line: str) -> None:
    Console().print(line, highlight=False, soft_wrap=True, markup=False)
