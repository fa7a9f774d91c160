"""Plan of a line-up: whether its engines fit their GPUs, and the highest speed to expect."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.engines.fit.estimate import Fit
from app.lineups.model import Engine, Lineup
from app.lineups.reader import find_lineup, list_shipped_lineups, read_lineup
from app.machine.measuring.engine_estimate import EnginePlan, plan_engine
from app.people.rights import viewers
from app.web.api.api_model import ApiModel, Figure
from app.web.api.api_route import create_router as api_router
from app.web.api.examples import declare_example
from app.web.api.problem import Problem, document_problems
from app.web.deps import TheRuntime

router = api_router("machine")


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


@router.get("/lineup/plan", responses=document_problems("not-found"))
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
    if name not in list_shipped_lineups():
        there = ", ".join(list_shipped_lineups())
        raise Problem("not-found", f"No line-up is called {name[:60]!a}. The line-ups are: {there}.", field="lineup")
    return read_lineup(find_lineup(name))


def _to_plan_view(engine: Engine, plan: EnginePlan) -> PlanView:
    return PlanView(
        name=engine.name,
        gpus=list(engine.gpus),
        replicas=len(engine.replicas),
        fits=plan.fits,
        says=plan.says,
        figures=_to_plan_figures(plan.fit) if plan.fit else {},
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


def _to_plan_figures(fit: Fit) -> dict[str, Figure]:
    return {name: Figure.from_source(getattr(fit, name), unit=unit, at=None) for name, unit in _UNITS.items()}
