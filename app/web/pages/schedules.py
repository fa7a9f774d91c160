"""Forms on the hosts page that create, pause and remove schedules."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from app.background.schedules.schedule_spec import ScheduleSpec, change_schedule, create_schedule_row, insert_schedule
from app.errors import Rejected
from app.people.rights import operators, resolve_recorded_name
from app.runs.rollout.host_selection import select_hosts
from app.store.clock import database_time
from app.store.host_groups import read_groups
from app.web.addresses import redirect_to
from app.web.deps import TheRuntime, TheSession
from app.web.pages.order_form import Fields, parse_order_form, parse_terms_form

router = APIRouter(include_in_schema=False)


@router.post("/schedules", name="schedules")
@operators
def submit_schedule(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    words = fields.get("hosts", "").strip()
    hosts = select_hosts(words, runtime.settings.hosts_folder, read_groups(session)) if words else ()
    wanted = ScheduleSpec(
        order=parse_order_form(fields, by=resolve_recorded_name("the page"), mode="scan"),
        hosts=hosts,
        words=words,
        terms=parse_terms_form(fields),
        cron=fields.get("cron", ""),
        zone=fields.get("zone", "UTC"),
        window_minutes=_parse_minutes(fields.get("window", "")),
    )
    insert_schedule(session, create_schedule_row(wanted, database_time(session), runtime.settings.hosts_folder))
    return redirect_to("hosts")


def _parse_minutes(words: str) -> float | None:
    try:
        return float(words) if words.strip() else None
    except ValueError:
        raise Rejected("window_minutes", f"{words[:40]!a} is not a number of minutes.") from None


@router.post("/schedules/{schedule}", name="schedule")
@operators
def submit_schedule_command(session: TheSession, schedule: str, verb: Annotated[str, Form()]) -> Response:
    change_schedule(session, schedule, verb, database_time(session))
    return redirect_to("hosts")
