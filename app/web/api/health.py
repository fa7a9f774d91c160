"""Health checks: is the process up, and is it ready?"""

import asyncio
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

from fastapi import Response
from pydantic import Field
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

from app.errors import EnvironmentUnusable, find_storage_fault
from app.people.rights import everybody
from app.runtime.health_faults import LATE_DATABASE, Conditions, find_faults, list_unreadiness_reasons
from app.runtime.health_reading import NO_RUN, UNKNOWN, read_conditions, read_stored_conditions
from app.runtime.runtime import Runtime
from app.store.db import DATABASE_UNAVAILABLE
from app.store.session_shared_within_request import open_read_connection
from app.targets.host_locks_held_too_long import find_hosts_held_long_while_others_wait
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
from app.web.deps import TheRuntime

_PROBE_BYTES, _STORED_SECONDS = 4096, 1.0
router = api_router("health", prefix="")


class Alive(ApiModel):
    status: Literal["ok"]


class Readiness(ApiModel):
    ready: bool
    reasons: list[str]
    engines: dict[str, str]
    faults: list[str] = Field(default=[], description="Everything that is broken, as the pages say it.")


@router.get("/healthz", responses=build_problem_responses())
@everybody
async def healthz() -> Alive:
    """Return 200 if the process answers."""
    return Alive(status="ok")


@router.get(
    "/readyz",
    responses={**build_problem_responses(), 503: {"model": Readiness, "description": "Not ready; `reasons` says why."}},
)
@everybody
async def readyz(runtime: TheRuntime, response: Response) -> Readiness:
    """Return 200 if log and data folder can be written, no frozen process locks a host and engines with a role serve.

    Otherwise return 503 with the reasons.
    """
    conditions = await _read_conditions_despite_slow_database(runtime)
    reasons = list_unreadiness_reasons(conditions)
    reasons += [
        one.sentence
        for one in await asyncio.to_thread(find_hosts_held_long_while_others_wait, runtime.settings.hosts_folder)
    ]
    reasons += await asyncio.to_thread(_describe_storage_faults, runtime.settings.data)
    try:
        runtime.writer.enqueue_batch([])
        if not runtime.leases:  # a node asks each second anyway, and what hangs with it would keep this from answering
            await asyncio.to_thread(_require_responding_database, runtime.database)
    except (EnvironmentUnusable, DatabaseError) as exc:
        reasons.append(str(exc))
    response.status_code = 503 if reasons else 200
    states = {name: event.state for name, (_, event) in conditions.engines.items()}
    faults = [fault.text for fault in find_faults(conditions)]
    return Readiness(ready=not reasons, reasons=reasons, engines=states, faults=faults)


async def _read_conditions_despite_slow_database(runtime: Runtime) -> Conditions:
    """Read the conditions, without those of a database that does not answer in time."""
    stored = UNKNOWN
    if runtime.clock.seconds_since_answer <= LATE_DATABASE:
        with suppress(TimeoutError, *DATABASE_UNAVAILABLE):
            async with asyncio.timeout(_STORED_SECONDS):
                stored = (await asyncio.to_thread(read_stored_conditions, runtime))[NO_RUN]
    return read_conditions(runtime, stored)


def _describe_storage_faults(folder: Path) -> list[str]:
    """Return why nothing can be written to the folder, also while nothing needs to be; [] if it can."""
    try:
        with TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as exc:
        return [str(find_storage_fault(exc) or f"the data folder cannot be written: {exc.strerror}")]
    return []


def _require_responding_database(database: Engine) -> None:
    with open_read_connection(database) as connection:
        connection.execute(text("select 1"))
