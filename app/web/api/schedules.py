"""Schedules: recurring scans and runs."""

from typing import Annotated, Literal

import msgspec
from fastapi import Path as InPath
from fastapi import Response
from pydantic import Field

from app.background.schedules.schedule_editing import (
    LONGEST,
    ScheduleSpec,
    create_schedule_row,
    insert_schedule_unless_duplicate_or_full,
    pause_resume_or_remove_schedule,
)
from app.background.schedules.schedule_start_grace_and_time_limit import LONGEST_WINDOW
from app.events.event_field_types import Mode
from app.people.rights import get_name_to_record, operators, viewers
from app.runs.order import Order, split_at_commas_unless_none
from app.runs.rollout.named_host_groups_and_selection import LONGEST_WORDS, select_hosts
from app.runs.rollout.rollout_request import MOST_AT_ONCE, USUAL_WAVES, RolloutTerms
from app.store import schedules
from app.store.database_clock import database_time
from app.store.host_groups import read_groups
from app.store.models import ScheduleRow
from app.targets.host_registry import FIXTURE
from app.web.api.api_model import ApiModel, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.api.rollouts import Words
from app.web.api.run_order_models import HostName, ModeName, Rules, SkillName
from app.web.deps import TheRuntime, TheSession
from app.web.url_paths import path_to

router = api_router("schedules")

Id = Annotated[str, InPath(max_length=40)]


class ScheduleOrder(ApiModel):
    host: HostName = FIXTURE
    hosts: Words = declare_field_with_unchecked_bounds(
        default="",
        maxLength=LONGEST_WORDS,
        examples=["web,db*", ["web", "db*"]],
        description="For a rollout, a list or one text: names, patterns, groups or all, resolved at each start.",
    )
    at_once: int = declare_field_with_unchecked_bounds(
        default=8, minimum=1, maximum=MOST_AT_ONCE, description="Of hosts."
    )
    waves: Words = declare_field_with_unchecked_bounds(default=USUAL_WAVES, maxLength=200, description="Of hosts.")
    harmed: int = declare_field_with_unchecked_bounds(default=1, minimum=0, maximum=1000, description="Of hosts.")
    escalated: float = declare_field_with_unchecked_bounds(
        default=100.0, minimum=0, maximum=100, description="Of hosts."
    )
    cron: str = declare_field_with_unchecked_bounds(maxLength=LONGEST["cron"], examples=["30 2 * * 1-5"])
    zone: str = declare_field_with_unchecked_bounds(
        default="UTC", maxLength=LONGEST["zone"], description="Time zone of the cron times.", examples=["Europe/Berlin"]
    )
    mode: ModeName = Field(
        default="scan", description="A scan changes nothing. The mode auto changes the host and needs a window."
    )
    skill: SkillName = "stig"
    rules: Rules = None
    window_minutes: float | None = declare_field_with_unchecked_bounds(
        default=None,
        exclusiveMinimum=0,
        maximum=LONGEST_WINDOW,
        description="Minutes after which Temper stops the run.",
    )


class ScheduleView(ApiModel):
    id: str
    host: str = Field(description="The host, or the selection of hosts of a rollout.")
    rollout: bool = Field(description="True if the schedule starts rollouts; `run` is then the id of the last one.")
    skill: str
    rules: list[str] = Field(description="Rule ids; empty means the whole skill.")
    mode: Mode
    cron: str
    zone: str
    window_minutes: float | None
    enabled: bool
    by: str
    next_at: Time | None = Field(description="Next start time; None while the schedule is paused.")
    fired_at: Time | None
    run: str | None = Field(description="Run that the schedule started last.")
    outcome: str = Field(description="Result of the last time and the number of missed times, as a sentence.")
    unkept: bool = Field(description="True if the last time was missed, skipped or failed.")


class ScheduleList(ApiModel):
    schedules: list[ScheduleView]


@router.get("/schedules", responses=build_problem_responses())
@viewers
def list_schedules(session: TheSession) -> ScheduleList:
    """List the schedules."""
    return ScheduleList(schedules=[_to_schedule_view(row) for row in schedules.list_schedules(session)])


@router.post("/schedules", status_code=201, responses=build_problem_responses("exists", *BODY_PROBLEMS))
@operators
@declare_example({"host": "fixture", "cron": "30 2 * * *", "zone": "Europe/Berlin", "rules": ["V-257985"]})
def add_schedule(order: ScheduleOrder, session: TheSession, runtime: TheRuntime, response: Response) -> ScheduleView:
    """Add a schedule, which starts runs at set times."""
    hosts = select_hosts(order.hosts, runtime.settings.hosts_folder, read_groups(session)) if order.hosts else ()
    row = create_schedule_row(_build_schedule_spec(order, hosts), runtime.clock.now(), runtime.settings.hosts_folder)
    insert_schedule_unless_duplicate_or_full(session, row)
    response.headers["location"] = path_to("show_schedule", schedule=row.id)
    return _to_schedule_view(row)


@router.get("/schedules/{schedule}", responses=build_problem_responses("not-found"))
@viewers
def show_schedule(schedule: Id, session: TheSession) -> ScheduleView:
    """Show a schedule with the outcome of its last time."""
    return _to_schedule_view(schedules.require_schedule(session, schedule))


@router.post("/schedules/{schedule}/{verb}", responses=build_problem_responses("not-found"))
@operators
def handle_schedule(schedule: Id, verb: Literal["pause", "resume"], session: TheSession) -> ScheduleView:
    """Pause or resume a schedule. While it is paused, no time is kept and none counts as missed."""
    return _to_schedule_view(pause_resume_or_remove_schedule(session, schedule, verb, database_time(session)))


@router.delete("/schedules/{schedule}", status_code=204, responses=build_problem_responses("not-found"))
@operators
def delete_schedule(schedule: Id, session: TheSession) -> None:
    """Delete a schedule. Its runs stay."""
    pause_resume_or_remove_schedule(session, schedule, "remove", database_time(session))


def _build_schedule_spec(order: ScheduleOrder, selected_hosts: tuple[str, ...]) -> ScheduleSpec:
    rules = None if order.rules is None else tuple(order.rules)
    return ScheduleSpec(
        order=Order(host=order.host, skill=order.skill, rules=rules, mode=order.mode, by=get_name_to_record("api")),
        cron=order.cron,
        zone=order.zone,
        window_minutes=order.window_minutes,
        hosts=selected_hosts,
        words=order.hosts,
        terms=msgspec.convert(order, RolloutTerms, from_attributes=True),
    )


def _to_schedule_view(row: ScheduleRow) -> ScheduleView:
    return ScheduleView.from_source(
        row,
        rollout=bool(row.rollout),
        rules=split_at_commas_unless_none(row.rules) or (),
        window_minutes=row.window_seconds / 60 if row.window_seconds else None,
        next_at=row.next_at if row.enabled else None,
        run=row.run or None,
    )
