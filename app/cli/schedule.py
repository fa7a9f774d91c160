"""`temper schedule`: add, list, pause, resume and remove schedules."""

import time
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from app.background.schedules.wanted import Wanted, add, handled, schedule
from app.cli.existing import existing_database
from app.cli.listing import list_stored, moment, shown
from app.cli.shared_hosts import caught_up
from app.config import Settings
from app.runs.rollout.chosen import ALL_HOSTS, chosen
from app.store import schedules
from app.store.db import open_database
from app.store.groups import groups
from app.store.models import ScheduleRow


def add_schedule(settings: Settings, wanted: Wanted) -> None:
    caught_up(settings)
    database = open_database(settings.database)
    with Session(database) as session:
        grouped = groups(session)
    if (words := wanted.order.host) in grouped or words == ALL_HOSTS or any(sign in words for sign in ",*?["):
        wanted = replace(wanted, words=words, hosts=chosen(words, settings.hosts, grouped))
    row = schedule(wanted, time.time(), settings.hosts)
    said = f"schedule {row.id}: {row.mode} on {row.host}, next {shown(moment(row.next_at))}"
    with Session(database) as session, session.begin():
        add(session, row)
    print(f"{said}; a server or worker has to run then")  # noqa: T201


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
    nothing = "There is no schedule yet: temper schedule add makes one."
    list_stored(
        settings, lambda session: [_line(row) for row in schedules.schedules(session)], nothing, as_json=as_json
    )


def _line(row: ScheduleRow) -> ScheduleLine:
    then = moment(row.next_at) if row.enabled else None
    wish = (row.id, row.host, row.skill, row.mode, row.cron, row.zone)
    return ScheduleLine(*wish, paused=not row.enabled, next=then, unkept=row.unkept, last=row.outcome)


def handle_schedule(settings: Settings, wanted: str, verb: str) -> None:
    with Session(existing_database(settings)) as session, session.begin():
        handled(session, wanted, verb, time.time())
    print(f"schedule {wanted}: {verb}d")  # noqa: T201
