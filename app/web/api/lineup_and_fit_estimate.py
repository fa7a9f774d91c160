"""The line-up: its roles, engines and GPUs; whether the engines fit, and how fast they can be."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.events.event_field_types import Role
from app.lineups.model import Engine, Lineup
from app.lineups.reader import list_shipped_lineup_names, read_lineup, require_lineup_path
from app.machine.measuring.engine_memory_estimate import EnginePlan, plan_engine
from app.people.rights import viewers
from app.web.api.api_model import ApiModel, Figure, create_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import Problem, build_problem_responses
from app.web.deps import TheRuntime

router = api_router("machine")


class GpuOfLineup(ApiModel):
    index: int
    kind: str
    memory: Figure
    bandwidth: Figure


class SeatView(ApiModel):
    role: Role
    engine: str
    temperature: float = Field(description="The configured value, not a measurement.")
    max_tokens: int


class LineupView(ApiModel):
    name: str
    title: str
    note: str
    simulated: bool
    gpus: list[GpuOfLineup]
    engines: list[str]
    seats: list[SeatView]


class PlanView(ApiModel):
    """One replica; memory is per GPU, of the fullest one."""

    name: str
    gpus: list[int]
    replicas: int
    fits: bool | None = Field(description="None if it cannot be estimated; `says` gives the reason.")
    says: str
    figures: dict[str, Figure] = Field(description="Empty if it cannot be estimated.")


class PlanList(ApiModel):
    lineup: str
    title: str
    engines: list[PlanView]


@router.get("/lineup", responses=build_problem_responses())
@viewers
def show_lineup(runtime: TheRuntime) -> LineupView:
    """Show which roles use which engines on which GPUs."""
    lineup = runtime.lineup
    said = f"line-up {lineup.name}"
    return LineupView.from_source(
        lineup,
        gpus=[
            GpuOfLineup.from_source(
                gpu,
                memory=create_figure(gpu.memory_gib, "GiB", "estimated", said, None),
                bandwidth=create_figure(gpu.bandwidth_gb_s, "GB/s", "estimated", said, None),
            )
            for gpu in lineup.gpus
        ],
        engines=list(lineup.engines),
        seats=list(lineup.seats.values()),
    )


@router.get("/lineup/plan", responses=build_problem_responses("not-found"))
@viewers
@declare_example(query={"lineup": "l4x4-nvfp4"})
def plan_lineup(
    runtime: TheRuntime,
    lineup: Annotated[
        str, Query(max_length=100, description="Name of a shipped line-up. Default: the line-up of this server.")
    ] = "",
) -> PlanList:
    """Estimate if the engines of a line-up fit their GPUs, and how fast they can be."""
    chosen = runtime.lineup if lineup in ("", runtime.lineup.name) else _read_shipped_lineup(lineup)
    views = [_to_plan_view(engine, plan_engine(chosen, engine)) for engine in chosen.engines.values()]
    return PlanList(lineup=chosen.name, title=chosen.title, engines=views)


def _read_shipped_lineup(name: str) -> Lineup:
    if name not in list_shipped_lineup_names():
        there = ", ".join(list_shipped_lineup_names())
        raise Problem("not-found", f"No line-up is called {name[:60]!a}. The line-ups are: {there}.", field="lineup")
    return read_lineup(require_lineup_path(name))


def _to_plan_view(engine: Engine, plan: EnginePlan) -> PlanView:
    units = _UNITS.items() if plan.fit else ()
    figures = {name: Figure.from_source(getattr(plan.fit, name), unit=unit, at=None) for name, unit in units}
    return PlanView.from_source(
        plan, name=engine.name, gpus=engine.gpus, replicas=len(engine.replicas), figures=figures
    )


_UNITS = {
    "missing_gib_per_gpu": "GiB",
    "weights_gib_per_gpu": "GiB",
    "kv_pool_gib_per_gpu": "GiB",
    "other_gib_per_gpu": "GiB",
    "kv_tokens": "token",
    "max_concurrency": "request",
    "largest_context": "token",
    "limit_tok_s": "token/s",
    "limit_with_speculation_tok_s": "token/s",
}
