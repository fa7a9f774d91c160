"""`temper host`: add, list, check, group and remove hosts."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer
from sqlmodel import Session

from app.cli.database_access import has_database, open_existing_database, sync_host_folders
from app.cli.output import Row, print_line, print_rows
from app.config import Settings
from app.errors import BadInput
from app.runs.rollout.named_host_groups_and_selection import drop_group, save_group
from app.runs.scanner_factory import REMOTE
from app.store.db import open_and_migrate_database
from app.store.host_groups import read_groups
from app.store.host_rule_states import delete_host_standings_and_memberships
from app.targets import host_registry, no_rollback_consent
from app.targets.host_lock import ALONE, Ownership
from app.targets.host_registry import open_target
from app.targets.ssh import registration
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.endpoint import Endpoint, Way, parse_endpoint
from app.text.clean import clean_line, clean_text

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
    files = sync_host_folders(settings)
    host_registry.require_free_name(settings.hosts_folder, new.name)
    end = _create_endpoint(new)
    if new.known_hosts:
        known = registration.read_identity_from_known_hosts(end, new.known_hosts)
    else:
        known = _fetch_and_confirm_host_key(end, new.accept_key)
    lacking = registration.find_rollback_obstacle_at_login(end, known)
    host_registry.register_host(settings.hosts_folder, new.name, end, known.known_hosts, known.fingerprint)
    if files:
        files.store_registration(new.name)
    print_line(f"{new.name} is {end}, host key {known.fingerprint}; its runs use the mode review by default")
    if lacking:
        print_line(f"{new.name} could not be rolled back: {lacking}. Scans work; a run that changes it requires")
        print_line(f'--without-rollback "{no_rollback_consent.build_consent_sentence(new.name)}"')


def list_hosts(settings: Settings, *, as_json: bool = False) -> None:
    sync_host_folders(settings)
    nowhere = {"place": None, "way": None, "fingerprint": None}
    rows: list[Row] = [
        {"host": name, "simulated": True, **nowhere}
        for name in host_registry.list_default_and_existing_fixtures(settings.hosts_folder)
    ]
    for one in host_registry.list_hosts(settings.hosts_folder):
        access = {"place": str(one.end), "way": one.end.way, "fingerprint": one.fingerprint}
        rows.append({"host": one.name, "simulated": False, **access})
    print_rows(rows, "", as_json=as_json)


def remove_host(settings: Settings, name: str, *, clean_up: bool = False) -> None:
    files = sync_host_folders(settings)
    if clean_up:
        _delete_temper_files_and_print(settings, name)
    host_registry.remove_host(settings.hosts_folder, name)
    if files:
        files.store_registration(name)
    if has_database(settings):
        with Session(open_and_migrate_database(settings.database_path_or_url)) as session, session.begin():
            delete_host_standings_and_memberships(session, name)
    print_line(f"{name} is removed; its journals stay in {settings.hosts_folder / name}")


def _delete_temper_files_and_print(settings: Settings, name: str) -> None:
    """Remove Temper's files from the host. Call it while the host is registered, so it can be repeated."""
    found = host_registry.require_removable(settings.hosts_folder, name)
    with closing(SshConnection(found.end, settings.hosts_folder / name / "known_hosts")) as line:
        taken = registration.remove_temper_files_from_host(line, REMOTE)
    for path in taken:
        print_line(f"{name}: removed {path}")
    print_line(f"{name}: no file of Temper is left on it" if taken else f"{name}: there was no file of Temper on it")


def check_host(settings: Settings, name: str, *, roll_back_open_changes: bool) -> int:
    sync_host_folders(settings)
    with closing(open_target(name, settings.hosts_folder, _create_ownership_without_lease(settings, name))) as target:
        if roll_back_open_changes:
            for journal in target.list_pending():
                undone = target.roll_back(journal)
                left = clean_line("; ".join(undone.differences), 4000)
                print_line(f"{clean_line(journal, 120)}: {left or 'rolled back to the state before'}")
        probes = target.check_health()
        for probe in probes:
            print_line(f"{'ok   ' if probe.ok else 'FAILS'} {probe.name}: {clean_text(probe.detail, 300)}")
        pending = target.list_pending() if any(p.ok for p in probes) else []
        for journal in pending:
            way_back = f"roll it back with temper host check {name} --undo"
            print_line(f"FAILS the change {clean_text(journal, 120)} is open: {way_back}")
        return HEALTHY if not pending and all(probe.ok for probe in probes) else NOT_HEALTHY


def _create_ownership_without_lease(settings: Settings, host: str) -> Ownership:
    """Return the ownership of a host outside any run, with the journals of the last node that worked on it."""
    if not (files := sync_host_folders(settings)):
        return ALONE
    return Ownership(
        load_folder=partial(files.match_local_folder_to_database, host), save_folder=partial(files.store_folder, host)
    )


def _create_endpoint(new: NewHost) -> Endpoint:
    ways: dict[Way, str] = {"key": str(new.key or ""), "agent": "agent" * new.agent, "password": new.password_from}
    given: list[Way] = [way for way, at in ways.items() if at]
    if len(given) != 1:
        raise BadInput("give exactly one way to log in: --key FILE, --agent, or --password-from VARIABLE_OR_FILE.")
    return parse_endpoint(new.place, given[0], "" if given[0] == "agent" else ways[given[0]], new.watch)


def _fetch_and_confirm_host_key(endpoint: Endpoint, accepted_fingerprint: str) -> registration.HostIdentity:
    known = asyncio.run(registration.fetch_host_key_and_fingerprint(endpoint))
    shown = f"{endpoint} shows the host key {known.fingerprint}"
    if accepted_fingerprint and accepted_fingerprint != known.fingerprint:
        raise BadInput(f"{shown}, not {clean_text(accepted_fingerprint, 80)}. The host was not added.")
    if not accepted_fingerprint:
        print_line(f"{shown}. Compare it on the host's console: ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub")
        if not typer.confirm("Are the keys identical?"):
            raise BadInput("the host was not added: compare the keys first.")
    return known


def set_group_hosts(settings: Settings, name: str, hosts: Sequence[str]) -> None:
    sync_host_folders(settings)
    with Session(open_and_migrate_database(settings.database_path_or_url)) as session, session.begin():
        found = save_group(session, name, hosts, settings.hosts_folder)
    print(f"{name}: {', '.join(found)}")  # noqa: T201


def remove_group(settings: Settings, name: str) -> None:
    with Session(open_existing_database(settings)) as session, session.begin():
        drop_group(session, name)
    print(f"group {name}: removed, its hosts stay")  # noqa: T201


def print_hosts_of_group(settings: Settings, name: str, *, as_json: bool) -> None:
    with Session(open_existing_database(settings)) as session:
        groups = read_groups(session)
    if name not in groups:
        known = f"the groups are {', '.join(groups)}" if groups else f"create it with temper host group {name} HOST…"
        raise BadInput(f"there is no group {name[:64]!a}: {known}.")
    print_rows([{"group": name, "host": host} for host in groups[name]], "", as_json=as_json)
