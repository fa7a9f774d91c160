"""Engines and GPUs on cards that several pages share: as they are now, or as they were at a replayed moment."""

import time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from app.events.kinds import KINDS, EngineSampled, EngineState, GpuSampled
from app.people.rights import guests, opens
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime
from app.web.pages.gpu_card import HISTORY_SECONDS, gpus
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ

STALE_SECONDS = 10.0
"""A sample that is older says nothing of a moment."""
STATE_SECONDS = 3600.0
"""A state is told when it changes; further back is not looked for every two seconds."""

router = APIRouter(include_in_schema=False)


@router.get("/machine")
@guests
def machine(
    runtime: TheRuntime,
    run: Annotated[str, Query(max_length=40)] = "",
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
) -> HTMLResponse:
    """What the page asks every two seconds; a replay names its run and the event that it has come to."""
    told = runtime.store.newest(run, at, KINDS, 1) if run and opens(run) else []
    if told:
        return HTMLResponse(_cards(gpus_then(runtime, told[0].at), meters_then(runtime, told[0].at)))
    return HTMLResponse(runtime.board.drawn(lambda: _cards(gpus_now(runtime), meters(runtime))))


def _cards(gpus: str, drawn: dict[str, str]) -> str:
    parts = {"gpus": gpus} | {f"meter-{name}": html for name, html in drawn.items()}
    return "".join(
        f'<hx-partial hx-target="#{name}" hx-swap="innerHTML">{html}</hx-partial>' for name, html in parts.items()
    )


def meters(runtime: Runtime) -> dict[str, str]:
    now, drawn = time.time(), {}
    for name in runtime.lineup.engines:
        at, sample = runtime.board.shown().engines.get(name, (None, None))
        _, state = runtime.board.states.get(name, (None, None))
        drawn[name] = meter(sample, state.state if state else "not seen yet", now - at if at else None)
    return drawn


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


def meter(sample: EngineSampled | None, state: str, age: float | None, then: str = "never sampled") -> str:
    """Figures that are old are dimmed and say so; they are not taken away."""
    context = {
        "sample": sample,
        "state": state,
        "trouble": state in ("dead", "stalled", "degraded", "absent"),
        "age": then if age is None else f"{age:.0f} s old",
        "old": age is not None and age > STALE_SECONDS,
        "simulated": bool(sample and sample.simulated),
    }
    return rendered("partials/_meter.html", **context)


def gpus_now(runtime: Runtime) -> str:
    now = time.time()
    history = runtime.store.samples(now - HISTORY_SECONDS, now, ("gpu.sample",))
    return gpus([event for _, event in runtime.board.shown().gpus.values()], history, runtime.board.gpu_reason)


def gpus_then(runtime: Runtime, at: float) -> str:
    history = runtime.store.samples(at - HISTORY_SECONDS, at, ("gpu.sample",))
    newest = {(one.event.host, one.event.gpu): one.event for one in history if isinstance(one.event, GpuSampled)}
    return gpus(list(newest.values()), history, "" if newest else "No GPU was read at that time.")
