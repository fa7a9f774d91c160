"""`temper schedule`: add, list, pause, resume and remove schedules."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from app.background.schedules.schedule_spec import ScheduleSpec, change_schedule, create_schedule_row, insert_schedule
from app.cli.existing_database import open_existing_database
from app.cli.listing import format_value, print_stored_rows, to_datetime
from app.cli.shared_hosts import sync_host_folders
from app.config import Settings
from app.runs.rollout.host_selection import ALL_HOSTS, select_hosts
from app.store import schedules
from app.store.clock import database_time
from app.store.db import open_database
from app.store.host_groups import read_groups
from app.store.models import ScheduleRow


def add_schedule(settings: Settings, wanted: ScheduleSpec) -> None:
    sync_host_folders(settings)
    database = open_database(settings.database_location)
    with Session(database) as session:
        grouped, now = read_groups(session), database_time(session)
    if (words := wanted.order.host) in grouped or words == ALL_HOSTS or any(sign in words for sign in ",*?["):
        wanted = replace(wanted, words=words, hosts=select_hosts(words, settings.hosts_folder, grouped))
    row = create_schedule_row(wanted, now, settings.hosts_folder)
    said = f"schedule {row.id}: {row.mode} on {row.host}, next {format_value(to_datetime(row.next_at))}"
    with Session(database) as session, session.begin():
        insert_schedule(session, row)
    print(f"{said}; a server or worker must be running at that time")  # noqa: T201


@dataclass(frozen=True)
class ScheduleLine:
    id: str
    host: str
    skill: str
    mode: str
    cron: str
    zone: str
    paused: bool
    next: datetime | None
    unkept: bool
    last: str


def list_schedules(settings: Settings, *, as_json: bool = False) -> None:
    nothing = "No schedules yet. Create one with temper schedule add."
    print_stored_rows(
        settings,
        lambda session: [_to_schedule_line(row) for row in schedules.list_schedules(session)],
        nothing,
        as_json=as_json,
    )


def _to_schedule_line(row: ScheduleRow) -> ScheduleLine:
    then = to_datetime(row.next_at) if row.enabled else None
    wish = (row.id, row.host, row.skill, row.mode, row.cron, row.zone)
    return ScheduleLine(*wish, paused=not row.enabled, next=then, unkept=row.unkept, last=row.outcome)


def apply_schedule_verb(settings: Settings, wanted: str, verb: str) -> None:
    with Session(open_existing_database(settings)) as session, session.begin():
        change_schedule(session, wanted, verb, database_time(session))
    print(f"schedule {wanted}: {verb}d")  # noqa: T201
