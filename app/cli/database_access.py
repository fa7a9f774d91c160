"""How commands reach the database: open it, find a run or rollout in it, and record what a person changed."""

import getpass
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine
from sqlmodel import Session

from app.config import Settings
from app.errors import BadInput
from app.events.kinds import AuditedRequest
from app.people.rights import Right
from app.store import audit, run_queries
from app.store.db import open_and_migrate_database
from app.store.host_folder_contents_in_database import HostFolders
from app.store.rollouts import find_up_to_five_rollouts_by_id_prefix, require_rollout


class Identified(Protocol):
    id: str


def has_database(settings: Settings) -> bool:
    return not isinstance(settings.database_path_or_url, Path) or settings.database_path_or_url.exists()


def describe_missing_database(settings: Settings) -> str:
    return f"There is nothing in {settings.data} yet: start a run with temper run, or name another folder with --data."


def require_existing_database(settings: Settings) -> None:
    if not has_database(settings):
        raise BadInput(describe_missing_database(settings))


def open_existing_database(settings: Settings) -> Engine:
    """Open the database of a command that only reads: raise BadInput instead of creating one."""
    require_existing_database(settings)
    return open_and_migrate_database(settings.database_path_or_url)


@contextmanager
def open_or_create_database(settings: Settings) -> Iterator[Engine]:
    """Open the database, which is created if there is none, until the end of the block."""
    database = open_and_migrate_database(settings.database_path_or_url)
    try:
        yield database
    finally:
        database.dispose()


def resolve_run_id(database: Engine, id_prefix: str) -> str:
    """Return the id of the run that begins with `id_prefix`. Raise BadInput unless there is exactly one."""
    with Session(database) as session:
        if found := _find_unique_match_id(run_queries.find_up_to_five_runs_by_id_prefix(session, id_prefix), id_prefix):
            return found
        newest = run_queries.find_newest_run(session)
    if newest is None:
        raise BadInput("there is no run in this data folder yet: start one with temper run.")
    raise BadInput(f"there is no run {id_prefix!r}: the newest is {newest.id}.")


def resolve_rollout_id(database: Engine, id_prefix: str) -> str:
    """Return the id of the rollout that begins with `id_prefix`. Raise BadInput unless there is exactly one."""
    with Session(database) as session:
        found = _find_unique_match_id(find_up_to_five_rollouts_by_id_prefix(session, id_prefix), id_prefix)
        return found or require_rollout(session, id_prefix).id


def _find_unique_match_id(matching_rows: Sequence[Identified], id_prefix: str) -> str | None:
    if len(matching_rows) > 1:
        raise BadInput(
            f"{id_prefix!r} matches {', '.join(row.id for row in matching_rows)}: give more characters of the id."
        )
    return matching_rows[0].id if matching_rows else None


def record_action(database: Engine, action: str, *, right: Right = "operator", detail: str = "") -> None:
    """Record in the audit log what the account that called the command did."""
    who = getpass.getuser()
    event = AuditedRequest(who=who, right=right, via="terminal", source="", did=action, status=0, detail=detail[:300])
    audit.record_audit_event(database, event)


def sync_host_folders(settings: Settings) -> HostFolders | None:
    """Bring the local hosts folder up to date with the shared database; return None if there is none."""
    if not settings.database_url:
        return None
    files = HostFolders(open_and_migrate_database(settings.database_path_or_url), settings.hosts_folder)
    files.sync_on_start()
    return files
