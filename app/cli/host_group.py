"""`temper host group`: set, show and remove groups of hosts."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session

from app.cli.existing_database import open_existing_database
from app.cli.listing import print_rows
from app.config import Settings
from app.errors import BadInput
from app.runs.rollout.host_selection import drop_group, save_group
from app.store.db import open_database
from app.store.host_groups import read_groups


@dataclass(frozen=True)
class GroupLine:
    group: str
    host: str


def set_group_hosts(settings: Settings, name: str, hosts: Sequence[str]) -> None:
    with Session(open_database(settings.database_location)) as session, session.begin():
        found = save_group(session, name, hosts, settings.hosts_folder)
    print(f"{name}: {', '.join(found)}")  # noqa: T201


def remove_group(settings: Settings, name: str) -> None:
    with Session(open_existing_database(settings)) as session, session.begin():
        drop_group(session, name)
    print(f"group {name}: removed, its hosts stay")  # noqa: T201


def print_group(settings: Settings, name: str, *, as_json: bool) -> None:
    with Session(open_existing_database(settings)) as session:
        there = read_groups(session)
    if name not in there:
        known = f"the groups are {', '.join(there)}" if there else f"create it with temper host group {name} HOST…"
        raise BadInput(f"there is no group {name[:64]!a}: {known}.")
    print_rows([GroupLine(name, host) for host in there[name]], "", as_json=as_json)
