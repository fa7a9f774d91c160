"""Cards of engines and GPUs that several pages share, for now or for a replayed moment."""

import time
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from app.engines.queue import QueueNow
from app.events.kinds import KINDS, EngineSampled, EngineState
from app.lineups.model import Engine
from app.machine.sampling.board import POWER_SECONDS, Board
from app.people.rights import guests, opens
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime
from app.web.pages.gpu_card import gpus
from app.web.pages.sharing import Sharing, TheSharing, drawn_shares
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ

STALE_SECONDS = 12.0
"""Older samples do not describe the present. Without viewers one is taken every ten seconds."""
FLOWS_SECONDS = 5.0
"""A token rate older than this is not shown as current."""
FLOWING, TROUBLE = ("ready", "degraded", "stalled"), ("dead", "stalled", "degraded", "absent")
STATE_SECONDS = 3600.0
"""How far back to look for an engine's state, which is logged only when it changes."""

router = APIRouter(include_in_schema=False)


@router.get("/machine")
@guests
def machine(
    runtime: TheRuntime,
    sharing: TheSharing,
    run: Annotated[str, Query(max_length=40)] = "",
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
    t: Annotated[float | None, Query(ge=0, le=1e9, allow_inf_nan=False)] = None,
) -> HTMLResponse:
    """Render the engine and GPU cards. The page polls this every two seconds; a replay passes its run and moment."""
    then = _moment(runtime, run, at, t) if run and opens(run) else None
    if then is not None:
        return HTMLResponse(_partials(_parts_then(runtime, then) | share_parts(runtime, sharing, then)))
    if sharing is None:
        return HTMLResponse(_partials(machine_parts(runtime)))
    return HTMLResponse(runtime.board.drawn(lambda: _partials(machine_parts(runtime) | share_parts(runtime, sharing))))


def _moment(runtime: Runtime, run: str, at: int | None, t: float | None) -> float | None:
    """Return the time of the event `at`, or of `t` seconds after the run was queued; None if there is no event."""
    told = runtime.store.newest(run, at if t is None else 1, KINDS, 1)
    return told[0].at + (t or 0) if told else None


def _partials(parts: Mapping[str, str]) -> str:
    return "".join(
        f'<hx-partial hx-target="#{name}" hx-swap="innerHTML">{html}</hx-partial>' for name, html in parts.items()
    )


def _parts_then(runtime: Runtime, at: float) -> dict[str, str]:
    return {
        "gpus": gpus_then(runtime, at),
        **{f"meter-{name}": html for name, html in meters_then(runtime, at).items()},
    }


def machine_parts(runtime: Runtime) -> dict[str, str]:
    """Return the current GPU and engine cards as inner HTML by element id."""
    return {"gpus": gpus_now(runtime), **{f"meter-{name}": html for name, html in meters(runtime).items()}}


def share_parts(runtime: Runtime, sharing: Sharing | None, at: float | None = None) -> dict[str, str]:
    return {f"share-{name}": html for name, html in drawn_shares(runtime.lineup, sharing, at).items()}


def meters(runtime: Runtime) -> dict[str, str]:
    now, drawn = time.time(), {}
    for name, engine in runtime.lineup.engines.items():
        at, sample = runtime.board.shown().engines.get(name, (None, None))
        _, state = runtime.board.states.get(name, (None, None))
        limit = fastest(engine, runtime.settings.speed)
        queue, age = runtime.queues.of(name).now, now - at if at else None
        drawn[name] = meter(sample, state.state if state else "not seen yet", age, limit=limit, queue=queue)
    return drawn


def fastest(engine: Engine, pace: float) -> float | None:
    """Return the token rate limit of one request, times the pace of a simulated engine; None if there is no limit."""
    if engine.limit_tok_s is None or (engine.simulation and not pace):
        return None
    return engine.limit_tok_s * (pace if engine.simulation else 1)


def meters_then(runtime: Runtime, at: float) -> dict[str, str]:
    samples: dict[str, EngineSampled] = {}
    for one in runtime.store.samples(at - STALE_SECONDS, at, ("engine.sample",)):
        if isinstance(one.event, EngineSampled):
            samples[one.event.engine] = one.event
    states = _states_then(runtime, at)
    return {
        name: meter(samples.get(name), states.get(name, "—"), None, "at the replayed moment")
        for name in runtime.lineup.engines
    }


def _states_then(runtime: Runtime, at: float) -> dict[str, str]:
    told = runtime.store.samples(at - STATE_SECONDS, at, ("engine.state",))
    return {one.event.engine: one.event.state for one in told if isinstance(one.event, EngineState)}


def meter(
    sample: EngineSampled | None,
    state: str,
    age: float | None,
    then: str = "never sampled",
    limit: float | None = None,
    queue: QueueNow | None = None,
) -> str:
    """Render an engine's meter. Stale figures stay visible and are marked; a stale token rate is hidden."""
    flows = flowing(sample, state, age)
    rate = flows.tok_s if flows else None
    alone = flows is not None and flows.running == 1
    context = {
        "sample": sample,
        "rate": rate,
        "share": 100 * rate / limit if rate and limit and alone and rate <= limit else None,
        "state": state,
        "queue": queue if queue and queue.waiting else None,
        "trouble": state in TROUBLE,
        "age": then if age is None else f"{age:.0f} s old",
        "old": age is not None and age > STALE_SECONDS,
        "simulated": bool(sample and sample.simulated),
    }
    return rendered("partials/_meter.html", **context)


def flowing(sample: EngineSampled | None, state: str, age: float | None) -> EngineSampled | None:
    """Return the sample if the engine is up and the sample is fresh, else None."""
    return sample if sample and state in FLOWING and (age is None or age <= FLOWS_SECONDS) else None


def gpus_now(runtime: Runtime) -> str:
    board = runtime.board.shown()
    return gpus([event for _, event in board.gpus.values()], board.power, board.gpu_reason)


def gpus_then(runtime: Runtime, at: float) -> str:
    history = runtime.store.samples(at - POWER_SECONDS, at, ("gpu.sample",))
    then = Board()
    then.take(history)
    return gpus(
        [event for _, event in then.gpus.values()], then.power, "" if then.gpus else "No GPU was read at that time."
    )
