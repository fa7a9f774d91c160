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
    evidence_key,
    gpus,
    groups,
    health,
    hosts,
    index,
    items,
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
from app.web.api.idempotency import IdempotencyKeys
from app.web.api.turn_counters import TurnCounters
from app.web.stream.fold_cache import RolloutStateCache, RunStateCache

PARTS = (
    index,
    runs,
    commands,
    rollouts,
    items,
    energy,
    events,
    evidence,
    evidence_key,
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


def install_api(application: FastAPI) -> None:
    runtime = application.state.runtime
    application.state.keys, application.state.folds = IdempotencyKeys(runtime.database), RunStateCache(runtime.store)
    application.state.rollouts = RolloutStateCache()
    application.state.turns = TurnCounters(runtime.bus, runtime.store)
    openapi.install_openapi(application)
