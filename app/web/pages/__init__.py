"""HTML over HTTP."""

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from app.config import PACKAGE
from app.people.rights import everybody
from app.web.pages import (
    cold_starts,
    energy,
    hosts,
    lineup,
    machine,
    memory,
    ops,
    people,
    refused,
    runs,
    schedules,
    scores,
    summary,
)
from app.web.pages.mission import routes
from app.web.pages.mission.missions import Missions


def install(application: FastAPI) -> None:
    application.mount("/static", everybody(StaticFiles(directory=PACKAGE / "static")), name="static")
    for part in (
        routes,
        machine,
        memory,
        runs,
        summary,
        energy,
        hosts,
        schedules,
        lineup,
        ops,
        cold_starts,
        people,
        scores,
    ):
        application.router.routes.extend(part.router.routes)
    refused.install(application)
    application.state.missions = Missions(application.state.runtime.store)
