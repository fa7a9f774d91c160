"""A line-up on one page: engines and their GPUs, with planned, published and measured figures side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.engines.fit.reckoned import Fit
from app.errors import BadInput
from app.events.words import Role
from app.lineups.model import Engine, Gpu, Lineup
from app.lineups.reader import find_lineup, read_lineup, shipped
from app.machine.measuring.planned import planned
from app.machine.measuring.probed import Probed
from app.machine.measuring.side_by_side import SideBySide, side_by_side
from app.machine.measuring.stored import comparable, newest
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

HISTORY = 30

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class MemoryStretch:
    """A part of a GPU's memory; `left` and `width` are percentages."""

    name: str
    gib: float
    left: float
    width: float


@dataclass(frozen=True)
class Section:
    """One replica of one engine."""

    engine: Engine
    place: str
    """The replica's number, if there are several."""
    gpus: tuple[Gpu, ...]
    roles: tuple[Role, ...]
    side: SideBySide
    parts: tuple[MemoryStretch, ...]
    """Planned memory of its smallest GPU."""


@router.get("/lineup", name="lineup")
@viewers
def running(runtime: TheRuntime, session: TheSession) -> Response:
    return _shown(runtime, session, runtime.lineup)


@router.get("/lineup/{name}", name="lineup_called")
@viewers
def named(runtime: TheRuntime, session: TheSession, name: str) -> Response:
    if name == runtime.lineup.name:
        return _shown(runtime, session, runtime.lineup)
    if name not in shipped():
        raise HTTPException(404, f"No line-up is called {name[:60]!a}. There are: {', '.join(shipped())}.")
    return _shown(runtime, session, read_lineup(find_lineup(name)))


@router.post("/probes", name="probes")
@operators
async def probe(runtime: TheRuntime, engine: Annotated[str, Form(max_length=100)] = "") -> Response:
    try:
        await runtime.probe(engine)
    except BadInput as exc:
        runtime.prober.ended = str(exc)
    return RedirectResponse(f"{path_to('lineup')}#probe", status_code=303)


@router.get("/probes/now", name="probes_now")
@viewers
def now(runtime: TheRuntime) -> Response:
    """Render the progress of a probe. The page polls this every two seconds and reloads when the probe ends."""
    nonce = new_nonce()
    drawn = page(rendered("partials/_probing.html", nonce=nonce, prober=runtime.prober), nonce)
    if not runtime.prober.working:
        drawn.headers["hx-refresh"] = "true"
    return drawn


def _shown(runtime: Runtime, session: Session, lineup: Lineup) -> Response:
    nonce = new_nonce()
    history = newest(session, lineup.name, limit=HISTORY)
    context = {
        "lineup": lineup,
        "runs_here": lineup.name == runtime.lineup.name,
        "names": shipped(),
        "sections": _sections(lineup, history),
        "history": history,
        "prober": runtime.prober,
    }
    return page(rendered("lineup.html", nonce=nonce, here="lineup", **context), nonce)


def _sections(lineup: Lineup, history: Sequence[Probed]) -> list[Section]:
    sections = []
    for engine in lineup.engines.values():
        plan, count = planned(lineup, engine), len(engine.replicas)
        for replica, indices in enumerate(engine.replicas):
            newest_one, before = comparable(history, engine.name, replica)
            gpus = tuple(gpu for gpu in lineup.gpus if gpu.index in indices)
            sections.append(
                Section(
                    engine=engine,
                    place=f"replica {replica + 1} of {count}" if count > 1 else "",
                    gpus=gpus,
                    roles=tuple(role for role, seat in lineup.seats.items() if seat.engine == engine.name),
                    side=side_by_side(engine, replica, plan, newest_one, before),
                    parts=_parts(plan.fit, min((gpu.memory_gib for gpu in gpus), default=0.0)),
                )
            )
    return sections


def _parts(fit: Fit | None, memory_gib: float) -> tuple[MemoryStretch, ...]:
    if fit is None:
        return ()
    taken = (
        ("weights", fit.weights_gib_per_gpu.value),
        ("other", fit.other_gib_per_gpu.value),
        ("KV pool", fit.kv_pool_gib_per_gpu.value),
    )
    held = sum(gib or 0.0 for _, gib in taken)
    whole = max(memory_gib, held)
    parts, left = [], 0.0
    for name, gib in (*taken, ("free", whole - held)):
        if gib:
            parts.append(MemoryStretch(name, gib, round(100 * left / whole, 2), round(100 * gib / whole, 2)))
            left += gib
    return tuple(parts)
