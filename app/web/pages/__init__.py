"""HTML over HTTP."""

from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from app.config import PACKAGE
from app.people.rights import everybody
from app.web.pages import (
    api_docs,
    cold_starts,
    energy,
    hosts,
    lessons,
    lineup,
    machine,
    memory,
    parameters,
    people,
    refused,
    run_label,
    run_records,
    runs,
    schedules,
    scores,
    summary,
    waivers,
)
from app.web.pages.fleet import routes as fleet_routes
from app.web.pages.fleet.fleet import Fleet
from app.web.pages.help import routes as help_routes
from app.web.pages.live_parts import LiveParts
from app.web.pages.machine import machine_parts, share_parts
from app.web.pages.mission import routes
from app.web.pages.mission.missions import Missions
from app.web.pages.ops import routes as ops
from app.web.pages.ops import webhooks
from app.web.pages.ops.console import Console
from app.web.pages.sharing import Sharing

PARTS = (
    routes,
    machine,
    memory,
    run_records,
    run_label,
    runs,
    lessons,
    summary,
    energy,
    hosts,
    fleet_routes,
    schedules,
    waivers,
    parameters,
    lineup,
    ops,
    webhooks,
    cold_starts,
    people,
    scores,
    api_docs,
    help_routes,
)
STATIC = StaticFiles(directory=PACKAGE / "static", check_dir=False)
ROUTES: tuple[BaseRoute, ...] = (
    Mount("/static", everybody(STATIC), name="static"),
    *(route for part in PARTS for route in part.router.routes),
)


def install(application: FastAPI) -> None:
    refused.install(application)
    runtime = application.state.runtime
    application.state.missions = Missions(runtime.store)
    sharing = application.state.sharing = Sharing(runtime.store)
    application.state.console = Console(runtime, application.state.folds, sharing)
    application.state.fleet = Fleet(runtime, application.state.folds, application.state.rollouts, sharing)
    application.state.ops_live = LiveParts("console", application.state.console.parts, "innerMorph")
    application.state.machine_live = LiveParts(
        "machine", lambda: machine_parts(runtime) | share_parts(runtime, sharing)
    )
    application.state.guests_live = LiveParts("machine, to guests", lambda: machine_parts(runtime))
