"""Health checks: is the process up, and is it ready?"""

import asyncio
from typing import Literal

from fastapi import Response
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

from app.errors import Unusable
from app.people.rights import everybody
from app.store.held import connected
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire
from app.web.deps import TheRuntime

router = api_router("health", prefix="")

SLOW = 3.0
"""Seconds a log write may take before the process is not ready."""


class Alive(Wire):
    status: Literal["ok"]


class Readiness(Wire):
    ready: bool
    reasons: list[str]
    engines: dict[str, str]


@router.get("/healthz", responses=documented())
@everybody
async def healthz() -> Alive:
    """Return 200 if the process answers."""
    return Alive(status="ok")


@router.get("/readyz", responses={**documented(), 503: {"model": Readiness, "description": "Not ready: see reasons"}})
@everybody
async def readyz(runtime: TheRuntime, response: Response) -> Readiness:
    """Return 200 if the log can be written and every engine with a role serves, else 503."""
    states = {name: event.state for name, (_, event) in runtime.board.states.items()}
    seated = {seat.engine for seat in runtime.lineup.seats.values()}
    reasons = [
        f"engine {name} is {states.get(name, 'not looked at yet')}"
        for name in sorted(seated)
        if states.get(name) not in ("ready", "degraded")
    ]
    if runtime.writer.waits > SLOW:
        reasons.append(f"the log has waited for {runtime.writer.waits:.0f} s to be written")
    try:
        runtime.writer.submit([])
        await asyncio.to_thread(_read, runtime.database)
    except (Unusable, DatabaseError) as exc:
        reasons.append(str(exc))
    response.status_code = 503 if reasons else 200
    return Readiness(ready=not reasons, reasons=reasons, engines=states)


def _read(database: Engine) -> None:
    with connected(database) as connection:
        connection.execute(text("select 1"))
