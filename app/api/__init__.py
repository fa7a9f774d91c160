"""JSON over HTTP: runs, what they wait for, the machine under them, and who is told."""

from fastapi import FastAPI

from app.api import (
    approvals,
    commands,
    engines,
    events,
    gpus,
    health,
    hosts,
    items,
    lessons,
    metrics,
    nowhere,
    openapi,
    problems,
    rules,
    runs,
    webhooks,
)

PREFIX = "/api/v1"


def install(application: FastAPI) -> None:
    for part in (runs, commands, items, events, approvals, engines, gpus, hosts, rules, lessons, webhooks):
        application.include_router(part.router, prefix=PREFIX)
    for part in (health, metrics, problems, nowhere):
        application.include_router(part.router)
    openapi.install(application)
