"""The operator's page: is it healthy, what waits, and how to stop it."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.events.kinds import EngineState
from app.loop.state import RunState
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.store import nodes, queries, schedules
from app.store.held import asking
from app.web.deps import TheRuntime, TheSession
from app.web.pages.cold_starts import stairs_now
from app.web.pages.machine import gpus_now, meters
from app.web.pages.memory import memory_now
from app.web.pages.mission.feed import FeedLine, feed_line
from app.web.pages.mission.missions import TOLD, TheMissions
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

QUIET_SECONDS = 60.0
TAIL_BYTES, TAIL_LINES = 6000, 25
FEED = 15

router = APIRouter(include_in_schema=False)


@router.get("/ops")
@viewers
def ops(runtime: TheRuntime, missions: TheMissions, session: TheSession) -> Response:
    rows = queries.unended(session)
    states = [missions.at(row.id).state for row in rows]
    nonce = new_nonce()
    context = {
        "lineup": runtime.lineup,
        "states": states,
        "nodes": nodes.standings(session) if runtime.leases else [],
        "node": runtime.leases.node if runtime.leases else "",
        "waiting": [state for state in states if _waits(state)],
        "alerts": [*_alerts(runtime.board.states, states, time.time()), *_slipped(session)],
        "loading": [name for name, (_, event) in runtime.board.states.items() if event.state == "loading"],
        "meters": meters(runtime),
        "gpus": gpus_now(runtime),
        "memory": memory_now(runtime),
        "simulator": runtime.simulator,
        "launched": runtime.launched,
        "stairs": stairs_now(runtime),
        "elsewhere": [engine.title for engine in runtime.lineup.engines.values() if engine.base_urls],
        "feed": _feed(runtime),
        "log": _tail(runtime.settings.data / "simulator.log"),
    }
    return page(rendered("ops.html", nonce=nonce, here="/ops", **context), nonce)


@router.post("/ops/engines")
@operators
async def engines(runtime: TheRuntime, verb: Annotated[str, Form(max_length=10)]) -> Response:
    """Only what this process launched: a turn in progress waits for its engine, within its budget."""
    if runtime.simulator:
        await (runtime.simulator.start() if verb == "start" else runtime.simulator.stop())
    return RedirectResponse("/ops", status_code=303)


def _feed(runtime: Runtime) -> list[tuple[str, FeedLine]]:
    """The newest lines of the newest run."""
    with asking(runtime.database) as session:
        row = queries.newest_run(session)
        run = row.id if row else ""
    told = runtime.store.newest(run, None, TOLD, FEED * 4) if run else []
    return [(run, line) for line in map(feed_line, told) if line][:FEED]


def _waits(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _alerts(engines: Mapping[str, tuple[float, EngineState]], states: list[RunState], now: float) -> list[str]:
    said = [
        f"engine {name} is {event.state}: {event.detail or 'no detail'}"
        for name, (_, event) in engines.items()
        if event.state not in ("ready", "loading")
    ]
    quiet = [state for state in states if state.status == "running" and not _waits(state)]
    late = [state for state in quiet if now - state.at > QUIET_SECONDS]
    return said + [f"run {state.run} has said nothing for {now - state.at:.0f} s" for state in late]


def _slipped(session: Session) -> list[str]:
    """Hosts whose newest run found drift, and times that a schedule could not keep."""
    drift = [
        f"{run.host}: {run.drifted} rules that held have slipped, as run {run.id} found"
        for run in queries.newest_of_each_host(session)
        if run.drifted
    ]
    unkept = [
        f"schedule {row.id} on {row.host}: {row.outcome}"
        for row in schedules.schedules(session)
        if row.enabled and row.unkept
    ]
    return drift + unkept


def _tail(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
    except OSError:
        return []
