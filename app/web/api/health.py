"""Health checks: is the process up, and is it ready?"""

import asyncio
from typing import Literal

from fastapi import Response
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

from app.errors import EnvironmentUnusable
from app.people.rights import everybody
from app.runtime.health import SERVING
from app.runtime.runtime import NOT_WRITTEN
from app.store.request_session import open_read_connection
from app.targets.held_hosts import find_held
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.deps import TheRuntime

router = api_router("health", prefix="")


class Alive(ApiModel):
    status: Literal["ok"]


class Readiness(ApiModel):
    ready: bool
    reasons: list[str]
    engines: dict[str, str]


@router.get("/healthz", responses=document_problems())
@everybody
async def healthz() -> Alive:
    """Return 200 if the process answers."""
    return Alive(status="ok")


@router.get(
    "/readyz",
    responses={**document_problems(), 503: {"model": Readiness, "description": "Not ready; `reasons` says why."}},
)
@everybody
async def readyz(runtime: TheRuntime, response: Response) -> Readiness:
    """Return 200 if the log can be written, no frozen process locks a host and every engine with a role serves.

    Otherwise return 503 with the reasons.
    """
    states = {name: event.state for name, (_, event) in runtime.board.states.items()}
    seated = {seat.engine for seat in runtime.lineup.seats.values()}
    reasons = [
        f"engine {name} is {states.get(name, 'not looked at yet')}"
        for name in sorted(seated)
        if states.get(name) not in SERVING
    ]
    if runtime.writer.stalled_seconds > NOT_WRITTEN:
        reasons.append(f"the log could not be written for {runtime.writer.stalled_seconds:.0f} s")
    if (silence := runtime.clock.silence) > NOT_WRITTEN:
        reasons.append(f"the database has not answered this node for {silence:.0f} s")
    reasons += [one.sentence for one in await asyncio.to_thread(find_held, runtime.settings.hosts_folder)]
    try:
        runtime.writer.enqueue_batch([])
        if not runtime.leases:  # a node asks each second anyway, and what hangs with it would keep this from answering
            await asyncio.to_thread(_ping_database, runtime.database)
    except (EnvironmentUnusable, DatabaseError) as exc:
        reasons.append(str(exc))
    response.status_code = 503 if reasons else 200
    return Readiness(ready=not reasons, reasons=reasons, engines=states)


def _ping_database(database: Engine) -> None:
    with open_read_connection(database) as connection:
        connection.execute(text("select 1"))
