"""Engines and GPUs on cards that several pages share: as they are now, or as they were at a replayed moment."""

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
"""A sample that is older says nothing of a moment. While nobody looks, one is taken every ten seconds."""
FLOWS_SECONDS = 5.0
"""A rate of longer ago is not what flows."""
FLOWING, TROUBLE = ("ready", "degraded", "stalled"), ("dead", "stalled", "degraded", "absent")
STATE_SECONDS = 3600.0
"""A state is told when it changes; further back is not looked for every two seconds."""

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
    """What the page asks every two seconds; a replay names its run and the moment that it has come to."""
    then = _moment(runtime, run, at, t) if run and opens(run) else None
    if then is not None:
        return HTMLResponse(_partials(_parts_then(runtime, then) | share_parts(runtime, sharing, then)))
    if sharing is None:
        return HTMLResponse(_partials(machine_parts(runtime)))
    return HTMLResponse(runtime.board.drawn(lambda: _partials(machine_parts(runtime) | share_parts(runtime, sharing))))


def _moment(runtime: Runtime, run: str, at: int | None, t: float | None) -> float | None:
    """When the run was at an event, or so many seconds after it was asked for."""
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
    """As they are now, element id to inner HTML."""
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
    """The speed of light for one request; simulated engines keep it times their pace, and at pace 0 none at all."""
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
    """Figures that are old are dimmed and say so; they are not taken away. What flows, flows now or not at all."""
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
    """What a sample says of now: nothing, of an engine that is down or has not been heard of for a while."""
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
