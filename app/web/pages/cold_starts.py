"""The cold start of every engine that Temper launches: its steps, the end of its log and its buttons."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException
from starlette.responses import HTMLResponse, Response

from app.engines.cold_start_progress import ColdStartStep
from app.engines.launch.launched_replica import LaunchedReplica, LaunchStatus
from app.engines.launch.log_tail import read_last_lines
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime
from app.web.pages.templating import render_template_to_text
from app.web.url_paths import redirect_to_run_or_route

LOG_LINES = 12

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ColdStartLine:
    step: ColdStartStep
    took: float
    left: float
    """Start of its bar, in percent."""
    width: float


@dataclass(frozen=True)
class ColdStartCard:
    engine: str
    replica: LaunchedReplica
    status: LaunchStatus
    age_s: float
    lines: tuple[ColdStartLine, ...]
    log: tuple[str, ...]


@router.get("/machine/stairs", name="cold_starts")
@viewers
def show_cold_starts(runtime: TheRuntime) -> HTMLResponse:
    return HTMLResponse(render_cold_starts(runtime))


EngineVerb = Annotated[str, Form(pattern="^(start|stop|restart)$")]
OfRun = Annotated[str, Form(max_length=40)]
"""The run from whose page the form was sent; empty if it was another page."""


@router.post("/ops/engines/{engine}", name="ops_engine")
@operators
async def submit_engine_command(runtime: TheRuntime, engine: str, verb: EngineVerb, run: OfRun = "") -> Response:
    if engine not in runtime.launched:
        raise HTTPException(404, f"Temper did not start {engine[:40]!a}: stop and start it where you started it.")
    if verb != "start":
        await asyncio.gather(*(one.stop() for one in runtime.launched[engine]))
    if verb != "stop":
        await asyncio.gather(*(one.start() for one in runtime.launched[engine]))
    return redirect_to_run_or_route(run, "ops")


def render_cold_starts(runtime: Runtime) -> str:
    now = time.time()
    cards = [_build_cold_start_card(name, one, now) for name, replicas in runtime.launched.items() for one in replicas]
    return render_template_to_text("partials/_cold_starts.html", cards=cards)


def _build_cold_start_card(engine: str, replica: LaunchedReplica, now: float) -> ColdStartCard:
    status, age = replica.read_status(), now - replica.cold.started if replica.cold.started else 0.0
    lines = _build_cold_start_lines(replica, now if status.state == "loading" else None)
    return ColdStartCard(engine, replica, status, age, lines, tuple(read_last_lines(replica.log, LOG_LINES)))


def _build_cold_start_lines(replica: LaunchedReplica, now_while_loading: float | None) -> tuple[ColdStartLine, ...]:
    steps = replica.cold.steps
    whole = (now_while_loading - replica.cold.started) if now_while_loading else (steps[-1].at if steps else 0.0)
    found, before = [], 0.0
    for step in steps:
        took = step.at - before
        share = 100 / whole if whole else 0.0
        found.append(ColdStartLine(step, took, round(before * share, 2), round(took * share, 2)))
        before = step.at
    return tuple(found)
