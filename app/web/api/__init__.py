"""The JSON API."""

from fastapi import FastAPI
from starlette.routing import BaseRoute

from app.web.api import (
    approvals,
    commands,
    energy,
    engines,
    events,
    evidence,
    gpus,
    groups,
    health,
    hosts,
    index,
    items,
    key,
    lessons,
    lineup,
    metrics,
    nodes,
    openapi,
    parameters,
    people,
    probes,
    problems,
    rollouts,
    rules,
    runs,
    samples,
    schedules,
    streams,
    tailorings,
    usage,
    waivers,
    webhooks,
)
from app.web.api.idempotency import Keys
from app.web.api.turn_tally import TurnTally
from app.web.stream.folds import Folds
from app.web.stream.rollout_folds import RolloutFolds

PARTS = (
    index,
    runs,
    commands,
    rollouts,
    items,
    energy,
    events,
    evidence,
    key,
    approvals,
    engines,
    lineup,
    probes,
    gpus,
    samples,
    streams,
    hosts,
    groups,
    rules,
    lessons,
    schedules,
    waivers,
    tailorings,
    parameters,
    webhooks,
    people,
    usage,
    nodes,
    health,
    metrics,
    problems,
)
ROUTES: tuple[BaseRoute, ...] = (*(route for part in PARTS for route in part.router.routes), openapi.ROUTE)


def install(application: FastAPI) -> None:
    runtime = application.state.runtime
    application.state.keys, application.state.folds = Keys(runtime.database), Folds(runtime.store)
    application.state.rollouts = RolloutFolds()
    application.state.turns = TurnTally(runtime.bus, runtime.store)
    openapi.install(application)
