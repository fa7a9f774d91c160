"""Probes of engines on this machine: results, and starting one."""

from typing import Annotated

from fastapi import Body, Query
from pydantic import Field

from app.errors import BadInput
from app.machine.measuring.probe import EngineBusy
from app.machine.measuring.probe_result import ProbeResult, read_newest_probes
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.web.api.api_model import ApiModel, Figure, Limit, Time
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.deps import TheRuntime, TheSession

router = api_router("machine")

Name = Annotated[str, Query(max_length=100)]


class ProbeView(ApiModel):
    id: str
    at: Time
    lineup: str
    engine: str
    replica: int = Field(description="From 0.")
    simulated: bool
    gpus: list[str] = Field(description="Names of the GPUs that the engine ran on.")
    conditions: dict[str, str] = Field(
        description="Versions and settings. Two probes are comparable only if these are equal."
    )
    figures: dict[str, Figure] = Field(
        description="`1x512.tok_s` is one stream of 512 tokens; `8x256.all_tok_s` is all of eight together."
    )
    problem: str = Field(description="Why the probe ended early; empty if it did not.")
    notes: list[str] = Field(description="Notes that limit how far the figures apply.")


class ProbeList(ApiModel):
    probes: list[ProbeView] = Field(description="Newest first.")
    under_way: str = Field(description="Engine that is being measured now; empty if none is.")
    ended: str = Field(description="Why the last probe on this server failed; empty if it did not.")


class ProbeOrder(ApiModel):
    engine: str = Field(
        default="",
        max_length=100,
        description="Engine to measure. Default: all engines of the line-up, one after another.",
    )


@router.get("/probes", responses=build_problem_responses())
@viewers
def list_probes(
    runtime: TheRuntime, session: TheSession, lineup: Name = "", engine: Name = "", limit: Limit = 20
) -> ProbeList:
    """List measurements of engines, newest first."""
    return _to_probe_list(runtime, read_newest_probes(session, lineup, engine, limit=limit))


@router.post("/probes", status_code=202, responses=build_problem_responses("busy", "not-found", *BODY_PROBLEMS))
@operators
@declare_example({"engine": "gemma-31b"})
async def start_probe(runtime: TheRuntime, order: Annotated[ProbeOrder | None, Body()] = None) -> ProbeList:
    """Start a probe. It takes minutes on a slow engine; poll GET /api/v1/probes for the result."""
    try:
        await runtime.start_probe(order.engine if order else "")
    except EngineBusy as exc:
        raise Problem("busy", str(exc)) from exc
    except BadInput as exc:
        raise Problem("not-found", str(exc), field="engine") from exc
    return _to_probe_list(runtime, [])


def _to_probe_list(runtime: Runtime, probes: list[ProbeResult]) -> ProbeList:
    prober = runtime.prober
    under_way = (prober.step or "about to begin") if prober.is_working else ""
    return ProbeList(probes=[_to_probe_view(one) for one in probes], under_way=under_way, ended=prober.ended)


def _to_probe_view(probe_result: ProbeResult) -> ProbeView:
    figures = {found.name: Figure.from_source(found, at=probe_result.at) for found in probe_result.figures}
    return ProbeView.from_source(probe_result, figures=figures)
