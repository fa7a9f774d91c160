"""HTML over HTTP."""

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from app.config import PACKAGE
from app.pages import energy, hosts, lineup, machine, memory, ops, people, refused, runs, schedules, stairs
from app.pages.mission import routes
from app.pages.mission.missions import Missions
from app.people.rights import everybody


def install(application: FastAPI) -> None:
    application.mount("/static", everybody(StaticFiles(directory=PACKAGE / "static")), name="static")
    for part in (routes, machine, memory, runs, energy, hosts, schedules, lineup, ops, stairs, people):
        application.router.routes.extend(part.router.routes)
    refused.install(application)
    application.state.missions = Missions(application.state.worker.store)
