"""A line-up on one page: engines and their GPUs, with planned, published and measured figures side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, HTTPException
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.engines.endpoint_lineup import ROLES
from app.engines.fit.estimate_result import Fit
from app.errors import BadInput, Rejected
from app.events.event_field_types import Role
from app.lineups.model import Engine, Gpu, Lineup
from app.lineups.reader import list_shipped_lineup_names, read_lineup, require_lineup_path
from app.machine.measuring.engine_memory_estimate import plan_engine
from app.machine.measuring.planned_and_measured_figures import ProbeComparison, compare_probe_results
from app.machine.measuring.probe_result import ProbeResult, find_newest_and_earlier, read_newest_probes
from app.people.rights import WHO, admins, operators, viewers
from app.runtime.model_server_chosen_by_admin import LINEUP_FILE, Inspection, ServerAddress
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime, TheSession, require_unshared_database
from app.web.pages.templating import render_page
from app.web.url_paths import path_to

HISTORY = 30
OWN_LINEUP = LINEUP_FILE.removesuffix(".toml")

router = APIRouter(include_in_schema=False)


class MemorySpan(NamedTuple):
    """A part of a GPU's memory; `left` and `width` are percentages."""

    name: str
    gib: float
    left: float
    width: float


@dataclass(frozen=True)
class ReplicaSection:
    engine: Engine
    place: str
    """The replica's number, if there are several."""
    gpus: tuple[Gpu, ...]
    roles: tuple[Role, ...]
    side: ProbeComparison
    parts: tuple[MemorySpan, ...]
    """Planned memory of its smallest GPU."""


@router.get("/lineup", name="lineup")
@viewers
def show_running_lineup(runtime: TheRuntime, session: TheSession, inspection: str = "") -> Response:
    return _render_lineup(runtime, session, runtime.lineup, inspection)


@router.get("/lineup/{name}", name="lineup_called")
@viewers
def show_named_lineup(runtime: TheRuntime, session: TheSession, name: str) -> Response:
    if name == runtime.lineup.name:
        return _render_lineup(runtime, session, runtime.lineup)
    if name not in list_shipped_lineup_names():
        raise HTTPException(
            404, f"No line-up is called {name[:60]!a}. There are: {', '.join(list_shipped_lineup_names())}."
        )
    return _render_lineup(runtime, session, read_lineup(require_lineup_path(name)))


@router.post("/lineup/server", name="own_server")
@admins
async def inspect_own_server(
    runtime: TheRuntime,
    address: Annotated[str, Form(max_length=500)],
    key: Annotated[str, Form()] = "",
    model: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    require_unshared_database(runtime)
    found = await runtime.own_server.inspect(runtime.http, ServerAddress(address, model, key))
    return RedirectResponse(f"{path_to('lineup')}?inspection={found.id}#own-server", status_code=303)


@router.post("/lineup/server/seats", name="own_server_seats")
@admins
async def seat_own_server(
    runtime: TheRuntime,
    inspection: Annotated[str, Form(max_length=100)],
    architect: Annotated[str, Form(max_length=300)] = "",
    worker: Annotated[str, Form(max_length=300)] = "",
    auditor: Annotated[str, Form(max_length=300)] = "",
    sentry: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    require_unshared_database(runtime)
    models: dict[Role, str] = {"architect": architect, "worker": worker, "auditor": auditor, "sentry": sentry}
    await runtime.own_server.write_and_request_lineup(runtime.http, inspection, models, runtime.settings.data)
    return RedirectResponse(f"{path_to('lineup')}#own-server", status_code=303)


@router.post("/lineup/server/forget", name="own_server_forget")
@admins
async def forget_own_server(runtime: TheRuntime) -> Response:
    await runtime.own_server.delete_lineup_and_request_original(runtime.settings.data)
    return RedirectResponse(f"{path_to('lineup')}#own-server", status_code=303)


@router.get("/lineup/server/now", name="own_server_now")
@viewers
def show_lineup_change(runtime: TheRuntime) -> Response:
    """Render the change of line-up that waits. The page polls this, and reloads once another line-up is in use."""
    change, waits = runtime.own_server.change, _count_runs_delaying_change(runtime)
    drawn = render_page("partials/_lineup_change.html", change=change, waits=waits)
    if change is None:
        drawn.headers["hx-refresh"] = "true"
    return drawn


@router.post("/probes", name="probes")
@operators
async def submit_probe(runtime: TheRuntime, engine: Annotated[str, Form(max_length=100)] = "") -> Response:
    try:
        await runtime.start_probe(engine)
    except BadInput as exc:
        runtime.prober.ended = str(exc)
    return RedirectResponse(f"{path_to('lineup')}#probe", status_code=303)


@router.get("/probes/now", name="probes_now")
@viewers
def show_probe_progress(runtime: TheRuntime) -> Response:
    """Render the progress of a probe. The page polls this every two seconds and reloads when the probe ends."""
    drawn = render_page("partials/_probing.html", prober=runtime.prober)
    if not runtime.prober.is_working:
        drawn.headers["hx-refresh"] = "true"
    return drawn


def _count_runs_delaying_change(runtime: Runtime) -> int:
    return len(runtime.list_unended_runs()) if runtime.own_server.change else 0


def _find_inspection_and_reason(runtime: Runtime, inspection: str) -> tuple[Inspection | None, str]:
    """Return the inspection, or why there is none to show."""
    try:
        return (runtime.own_server.require_inspection(inspection) if inspection else None), ""
    except Rejected as exc:
        return None, exc.sentence


def _render_lineup(runtime: Runtime, session: Session, lineup: Lineup, inspection: str = "") -> Response:
    may_change = (person := WHO.get()) is not None and person.right == "admin"
    found, lost = _find_inspection_and_reason(runtime, inspection if may_change else "")
    history = read_newest_probes(session, lineup.name, limit=HISTORY)
    return render_page(
        "lineup.html",
        here="lineup",
        lineup=lineup,
        runs_here=lineup.name == runtime.lineup.name,
        names=list_shipped_lineup_names(),
        sections=_build_replica_sections(lineup, history),
        history=history,
        prober=runtime.prober,
        may_change=may_change and not runtime.leases,
        inspection=found,
        lost=lost,
        change=runtime.own_server.change,
        waits=_count_runs_delaying_change(runtime),
        is_own=runtime.lineup.name == OWN_LINEUP,
        all_roles=ROLES,
    )


def _build_replica_sections(lineup: Lineup, probe_results: Sequence[ProbeResult]) -> list[ReplicaSection]:
    sections = []
    for engine in lineup.engines.values():
        plan, count = plan_engine(lineup, engine), len(engine.replicas)
        for replica, indices in enumerate(engine.replicas):
            newest_one, before = find_newest_and_earlier(probe_results, engine.name, replica)
            gpus = tuple(gpu for gpu in lineup.gpus if gpu.index in indices)
            sections.append(
                ReplicaSection(
                    engine=engine,
                    place=f"replica {replica + 1} of {count}" if count > 1 else "",
                    gpus=gpus,
                    roles=tuple(role for role, seat in lineup.seats.items() if seat.engine == engine.name),
                    side=compare_probe_results(engine, replica, plan, newest_one, before),
                    parts=_split_planned_memory(plan.fit, min((gpu.memory_gib for gpu in gpus), default=0.0)),
                )
            )
    return sections


def _split_planned_memory(fit: Fit | None, memory_gib: float) -> tuple[MemorySpan, ...]:
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
            parts.append(MemorySpan(name, gib, round(100 * left / whole, 2), round(100 * gib / whole, 2)))
            left += gib
    return tuple(parts)
