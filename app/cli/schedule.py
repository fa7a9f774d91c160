"""`temper schedule`: add, list, pause, resume and remove schedules."""

from dataclasses import replace

from sqlmodel import Session

from app.background.schedules import schedule_editing
from app.cli.database_access import open_existing_database, sync_host_folders
from app.cli.output import Row, format_cell, print_stored_rows, to_datetime, to_row
from app.config import Settings
from app.runs.rollout.named_host_groups_and_selection import ALL_HOSTS, select_hosts
from app.store import schedules
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from app.store.host_groups import read_groups


def add_schedule(settings: Settings, wanted: schedule_editing.ScheduleSpec) -> None:
    sync_host_folders(settings)
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session:
        grouped, now = read_groups(session), database_time(session)
    if (words := wanted.order.host) in grouped or words == ALL_HOSTS or any(sign in words for sign in ",*?["):
        wanted = replace(wanted, words=words, hosts=select_hosts(words, settings.hosts_folder, grouped))
    row = schedule_editing.create_schedule_row(wanted, now, settings.hosts_folder)
    created = f"schedule {row.id}: {row.mode} on {row.host}, next {format_cell(to_datetime(row.next_at))}"
    with Session(database) as session, session.begin():
        schedule_editing.insert_schedule_unless_duplicate_or_full(session, row)
    print(f"{created}; a server or worker must be running at that time")  # noqa: T201


def list_schedules(settings: Settings, *, as_json: bool = False) -> None:
    nothing = "No schedules yet. Create one with temper schedule add."
    print_stored_rows(settings, _read_schedules, nothing, as_json=as_json)


def _read_schedules(session: Session) -> list[Row]:
    columns = ("id", "host", "skill", "mode", "cron", "zone", "paused", "next", "unkept", "last")
    found = schedules.list_schedules(session)
    times = {row.id: to_datetime(row.next_at) for row in found if row.enabled}
    return [to_row(row, columns, paused=not row.enabled, next=times.get(row.id), last=row.outcome) for row in found]


def pause_resume_or_remove_schedule_and_print(settings: Settings, schedule_id: str, verb: str) -> None:
    with Session(open_existing_database(settings)) as session, session.begin():
        schedule_editing.pause_resume_or_remove_schedule(session, schedule_id, verb, database_time(session))
    print(f"schedule {schedule_id}: {verb}d")  # noqa: T201
