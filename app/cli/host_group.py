"""`temper host group`: set, show and remove groups of hosts."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.listing import listed
from app.config import Settings
from app.errors import BadInput
from app.runs.rollout.chosen import group, ungroup
from app.store.db import open_database
from app.store.groups import groups


@dataclass(frozen=True)
class GroupLine:
    group: str
    host: str


def keep_group(settings: Settings, name: str, hosts: Sequence[str]) -> None:
    with Session(open_database(settings.database)) as session, session.begin():
        found = group(session, name, hosts, settings.hosts)
    print(f"{name}: {', '.join(found)}")  # noqa: T201


def remove_group(settings: Settings, name: str) -> None:
    with Session(existing_database(settings)) as session, session.begin():
        ungroup(session, name)
    print(f"group {name}: removed, its hosts stay")  # noqa: T201


def show_group(settings: Settings, name: str, *, as_json: bool) -> None:
    with Session(existing_database(settings)) as session:
        there = groups(session)
    if name not in there:
        known = f"there is {', '.join(there)}" if there else f"temper host group {name} HOST… makes it"
        raise BadInput(f"there is no group {name[:64]!a}: {known}.")
    listed([GroupLine(name, host) for host in there[name]], "", as_json=as_json)
