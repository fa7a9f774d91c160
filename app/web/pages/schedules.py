"""Forms on the hosts page that create, pause and remove schedules."""

import time
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import RedirectResponse, Response

from app.background.schedules.wanted import Wanted, add, handled, schedule
from app.errors import NotTaken
from app.people.rights import operators, signed
from app.runs.rollout.chosen import chosen
from app.store.groups import groups
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession
from app.web.pages.order_form import Fields, order_of, terms_of

router = APIRouter(include_in_schema=False)


@router.post("/schedules", name="schedules")
@operators
def make(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    words = fields.get("hosts", "").strip()
    hosts = chosen(words, runtime.settings.hosts, groups(session)) if words else ()
    wanted = Wanted(
        order=order_of(fields, by=signed("the page"), mode="scan"),
        hosts=hosts,
        words=words,
        terms=terms_of(fields),
        cron=fields.get("cron", ""),
        zone=fields.get("zone", "UTC"),
        window_minutes=_minutes(fields.get("window", "")),
    )
    add(session, schedule(wanted, time.time(), runtime.settings.hosts))
    return RedirectResponse(path_to("hosts"), status_code=303)


def _minutes(words: str) -> float | None:
    try:
        return float(words) if words.strip() else None
    except ValueError:
        raise NotTaken("window_minutes", f"{words[:40]!a} is no number of minutes.") from None


@router.post("/schedules/{schedule}", name="schedule")
@operators
def handle(session: TheSession, schedule: str, verb: Annotated[str, Form()]) -> Response:
    handled(session, schedule, verb, time.time())
    return RedirectResponse(path_to("hosts"), status_code=303)
