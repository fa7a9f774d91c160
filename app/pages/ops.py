"""The operator's page: is it healthy, what waits, and how to stop it."""

import time
from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from app.deps import TheSession, TheWorker
from app.events.kinds import EngineState
from app.loop.state import RunState, fold
from app.pages.machine import gpus_now, meters
from app.pages.security import new_nonce, page
from app.pages.templating import rendered
from app.store import queries

QUIET_SECONDS = 60.0
TAIL_BYTES, TAIL_LINES = 6000, 25

router = APIRouter(include_in_schema=False)


@router.get("/ops")
def ops(worker: TheWorker, session: TheSession) -> Response:
    rows = queries.unended(session)
    states = [fold(worker.store.steady(row.id)) for row in rows]
    nonce = new_nonce()
    context = {
        "lineup": worker.lineup,
        "states": states,
        "waiting": [state for state in states if _waits(state)],
        "alerts": _alerts(worker.board.states, states, time.time()),
        "meters": meters(worker),
        "gpus": gpus_now(worker),
        "log": _tail(worker.settings.data / "simulator.log"),
    }
    return page(rendered("ops.html", nonce=nonce, here="/ops", **context), nonce)


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


def _tail(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
    except OSError:
        return []
