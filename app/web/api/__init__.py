"""The JSON API."""

from fastapi import FastAPI
from starlette.routing import BaseRoute

from app.runs.open_decision_reader import DecisionReader
from app.web.api import (
    approvals,
    engine_speed_measurements,
    engines,
    events,
    evidence,
    findings_of_run,
    gpus,
    health,
    hosts,
    inbox,
    lessons,
    lineup_and_fit_estimate,
    measured_samples_over_time,
    metrics,
    nodes_sharing_database,
    openapi,
    own_model_server,
    people,
    problem,
    rollouts,
    rules,
    run_commands,
    run_energy,
    runs,
    schedules,
    server_wide_streams,
    site_values,
    tailorings,
    usage_by_person,
    waivers,
    webhooks,
)
from app.web.api.idempotency import IdempotencyKeys
from app.web.api.prometheus_turn_counters import TurnCounters
from app.web.stream.fold_cache import RolloutStateCache, RunStateCache

PARTS = (
    openapi,
    runs,
    run_commands,
    rollouts,
    findings_of_run,
    run_energy,
    events,
    evidence,
    approvals,
    inbox,
    engines,
    lineup_and_fit_estimate,
    own_model_server,
    engine_speed_measurements,
    gpus,
    measured_samples_over_time,
    server_wide_streams,
    hosts,
    rules,
    lessons,
    schedules,
    waivers,
    tailorings,
    site_values,
    webhooks,
    people,
    usage_by_person,
    nodes_sharing_database,
    health,
    metrics,
    problem,
)
ROUTES: tuple[BaseRoute, ...] = (*(route for part in PARTS for route in part.router.routes), openapi.ROUTE)


def install_api_state(application: FastAPI) -> None:
    state, runtime = application.state, application.state.runtime
    state.keys = IdempotencyKeys(runtime.database)
    state.folds, state.rollouts = RunStateCache(runtime.store), RolloutStateCache()
    state.decisions = DecisionReader(runtime.database, state.folds.read_current, runtime.clock.now)
    state.turns = TurnCounters(runtime.bus, runtime.store)
    openapi.put_description_builder_in_state(application)
