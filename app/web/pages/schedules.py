"""Schedules, where the hosts are: made, paused and removed by forms."""

import time
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import RedirectResponse, Response

from app.background.schedules.timing import next_after
from app.background.schedules.wanted import Wanted, schedule
from app.errors import BadInput
from app.people.rights import operators, signed
from app.store import schedules
from app.web.deps import TheRuntime, TheSession
from app.web.pages.refused import refusal

router = APIRouter(include_in_schema=False)


@router.post("/schedules")
@operators
def add(
    session: TheSession,
    runtime: TheRuntime,
    host: Annotated[str, Form(max_length=64)],
    cron: Annotated[str, Form(max_length=100)],
    mode: Annotated[str, Form(max_length=10)],
    zone: Annotated[str, Form(max_length=64)] = "UTC",
    window: Annotated[str, Form(max_length=10)] = "",
    skill: Annotated[str, Form(max_length=200)] = "stig",
) -> Response:
    try:
        minutes = float(window) if window.strip() else None
        wanted = Wanted(host=host, cron=cron, zone=zone, mode=mode, skill=skill.strip(), window_minutes=minutes)
        session.add(schedule(wanted, signed("the page"), time.time(), runtime.settings.hosts))
    except BadInput as exc:
        return refusal(f"{str(exc)[:1].upper()}{str(exc)[1:]}", 422)
    except ValueError:
        return refusal(f"{window!a} is no number of minutes.", 422)
    return RedirectResponse("/hosts", status_code=303)


@router.post("/schedules/{schedule}")
@operators
def handle(
    session: TheSession, schedule: str, verb: Annotated[str, Form(pattern="^(pause|resume|remove)$")]
) -> Response:
    try:
        row = schedules.known(session, schedule)
    except BadInput as exc:
        return refusal(f"{str(exc)[:1].upper()}{str(exc)[1:]}", 404)
    if verb == "remove":
        session.delete(row)
    else:
        row.enabled, row.next_at = verb == "resume", next_after(row.cron, row.zone, time.time())
        session.add(row)
    return RedirectResponse("/hosts", status_code=303)
