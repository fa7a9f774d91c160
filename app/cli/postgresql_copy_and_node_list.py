"""`temper db copy` and `temper nodes`: the database that several nodes share."""

from sqlmodel import Session

from app.cli.database_access import describe_missing_database, has_database, open_or_create_database
from app.cli.output import print_line, print_rows
from app.config import Settings
from app.errors import BadInput
from app.runtime.data_folder import hold_lock
from app.store import nodes
from app.store.db import is_shared, mask_password, open_and_migrate_database
from app.store.sqlite_to_postgresql_copy import copy_sqlite_rows_and_verify_chains
from app.targets.host_locks_held_too_long import find_hosts_held_long_while_others_wait

AT_WORK, NOBODY = 0, 2


def copy_database(settings: Settings) -> None:
    if not settings.database_url:
        command = "TEMPER_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE temper db copy"
        raise BadInput(f"no target database is set: use {command}.")
    file = settings.data / "temper.sqlite"
    if not file.is_file():
        raise BadInput(f"there is no {file} to copy: give its folder with --data.")
    with hold_lock(settings.lock_path):
        source, into = open_and_migrate_database(file), open_and_migrate_database(settings.database_path_or_url)
        try:
            copied = copy_sqlite_rows_and_verify_chains(source, into)
        finally:
            source.dispose()
            into.dispose()
    rows = copied.rows
    counts = f"{sum(rows.values())} rows, {rows['event']} of them events, runs: {rows['run']}"
    place = mask_password(settings.database_path_or_url)
    print_line(f"copied to {place}: {counts}; valid chains in the copy: {copied.chains}")
    start = f"start every node with TEMPER_DATABASE_URL and --data {settings.data}"
    print_line(f"{start}; unfinished runs resume there. {file} stays unchanged, and is no longer used.")


def print_nodes_and_get_exit_code_whether_any_works(settings: Settings, *, as_json: bool = False) -> int:
    """Print the nodes. Return NOBODY if no node works on runs."""
    if not has_database(settings):
        print_rows([], describe_missing_database(settings), as_json=as_json)
        return AT_WORK
    with open_or_create_database(settings) as database:
        if not is_shared(database):
            only_file = f"{settings.database_path_or_url} is a file, which only one process uses at a time."
            print_rows([], f"{only_file} Nodes need PostgreSQL: set TEMPER_DATABASE_URL.", as_json=as_json)
            return AT_WORK
        with Session(database) as session:
            living, lost = nodes.list_unended_node_statuses(session), nodes.list_given_up_nodes(session)
            at_work = nodes.list_responsive_nodes(session)
    for one in lost:
        silent = f"has been silent for {one.silent_seconds:.0f} s and was given up"
        print_line(f"temper: node {one.name} {silent}", to_stderr=True)
    for held in find_hosts_held_long_while_others_wait(settings.hosts_folder):
        print_line(f"temper: {held.sentence}", to_stderr=True)
    rows = [
        {
            "node": one.name,
            "kind": one.kind,
            "silent_seconds": one.silent_seconds,
            "keeps": ("schedules", "webhooks") * one.leads,
            "runs": tuple(one.runs),
            "clock_off_seconds": round(one.clock_off, 3),
        }
        for one in living
    ]
    print_rows(rows, "no node works on this database: start temper serve or temper worker.", as_json=as_json)
    return AT_WORK if at_work else NOBODY
