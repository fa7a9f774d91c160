"""The HTML pages: their routes, and the objects that they share for the life of the application."""

from functools import partial

from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from app.config import PACKAGE
from app.people.rights import everybody
from app.runtime.health_reading import read_marker_of_change_on_any_page
from app.web.pages import (
    api_docs,
    benchmark_score_list,
    cold_starts,
    engine_meters_and_gpu_cards,
    error_pages,
    find,
    gpu_cards,
    hosts,
    inbox,
    lessons,
    lineup,
    people,
    run_energy_table,
    runs,
    search_within_run,
    site_values,
    start_run,
    summary_page,
    waivers,
)
from app.web.pages.appearance_cookie import AppearanceContext
from app.web.pages.engine_meters_and_gpu_cards import render_current_or_past_machine_parts
from app.web.pages.fleet import routes as fleet_routes
from app.web.pages.fleet.fleet_page import Fleet
from app.web.pages.header_badges import InboxContext, InboxWatch
from app.web.pages.health_watch import HealthWatch
from app.web.pages.help import routes as help_routes
from app.web.pages.hosts_sharing_each_engine import Sharing
from app.web.pages.live_parts import LiveParts
from app.web.pages.mission import routes
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.ops import console, webhooks
from app.web.pages.ops.console import Console

MISSION_PARTS = (routes, start_run, engine_meters_and_gpu_cards, gpu_cards)
RUN_PARTS = (search_within_run, find, runs, lessons, summary_page, run_energy_table)
SITE_PARTS = (hosts, fleet_routes, waivers, inbox, site_values, lineup)
OPERATOR_PARTS = (console, webhooks, cold_starts, people)
REFERENCE_PARTS = (benchmark_score_list, api_docs, help_routes)
PARTS = (*MISSION_PARTS, *RUN_PARTS, *SITE_PARTS, *OPERATOR_PARTS, *REFERENCE_PARTS)
STATIC = StaticFiles(directory=PACKAGE / "static", check_dir=False)
ROUTES: tuple[BaseRoute, ...] = (
    Mount("/static", everybody(STATIC), name="static"),
    *(route for part in PARTS for route in part.router.routes),
)


def install_page_services(application: FastAPI) -> None:
    error_pages.install_error_handlers(application)
    runtime = application.state.runtime
    application.state.missions = MissionLoader(runtime.store)
    sharing = application.state.sharing = Sharing(runtime.store, runtime.clock.now)
    application.state.health = HealthWatch(runtime, application.state.folds)
    decisions = application.state.decisions
    application.state.inbox_watch = InboxWatch(decisions, runtime)
    application.add_middleware(InboxContext, decisions=decisions, runtime=runtime)
    application.add_middleware(AppearanceContext)
    application.state.console = Console(runtime, application.state.folds, sharing, decisions)
    application.state.fleet = Fleet(runtime, application.state.folds, application.state.rollouts, sharing)
    signs = partial(read_marker_of_change_on_any_page, runtime)
    ops = application.state.ops_live = LiveParts("console", application.state.console.render_parts, "innerMorph", signs)

    def draw_inbox() -> dict[str, str]:
        return {"queue": inbox.render_queue(decisions.list_decisions(), runtime.clock.now())}

    desk = application.state.inbox_live = LiveParts("inbox", draw_inbox, "innerMorph", signs)
    shown = (ops, desk, application.state.fleet)
    runtime.board.has_news = lambda: any(one.has_news() for one in shown)
    draw_machine = partial(render_current_or_past_machine_parts, runtime, sharing)
    application.state.machine_live = LiveParts("machine", partial(draw_machine, show_hosts=True))
    application.state.guests_live = LiveParts("machine, to guests", partial(draw_machine, show_hosts=False))
