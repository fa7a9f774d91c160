"""Usage by person and API token."""

from typing import Annotated

from fastapi import Depends, Query, Response
from pydantic import Field

from app.people.rights import WHO, has_right, operators
from app.runs.usage_by_person import PERS, UsageLine, compute_usage, format_usage_csv, parse_usage_query
from app.store.database_clock import database_time
from app.web.api.api_model import ApiModel, Figure, declare_field_with_unchecked_bounds, derive_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import build_problem_responses
from app.web.deps import TheRuntime, TheSession

router = api_router("usage")

TOKENS = "the engines' own count"
HELD = "GPU-seconds of the roles' turns, for runs whose energy is known"
DRAWN = "power of those GPUs in that time by NVML or DCGM, held to their energy counters where these were read"


class UsageView(ApiModel):
    period: str = Field(description="Day or month (UTC) in which the runs were ordered.")
    person: str = Field(
        description="Person who ordered the runs. Runs of a schedule or rollout count for the person who made it."
    )
    token: str | None = Field(description="Id of the API token that ordered them.")
    label: str
    simulated: bool = Field(description="True if the engines were simulated; nothing was spent.")
    runs: int
    tokens_in: int = Field(description=f"Tokens that the roles read, by {TOKENS}.")
    tokens_out: int = Field(description=f"Tokens that the roles wrote, by {TOKENS}.")
    gpu_seconds: Figure
    energy: Figure
    runs_with_energy: int = Field(description="Number of runs whose energy is known; the two figures cover only these.")


class UsageList(ApiModel):
    usage: list[UsageView]


Day = Annotated[str, Query(max_length=40)]
Per = Annotated[str, declare_field_with_unchecked_bounds(enum=list(PERS)), Query(max_length=40)]


def _read_visible_usage(
    runtime: TheRuntime, session: TheSession, since: Day = "", until: Day = "", per: Per = "month"
) -> list[UsageLine]:
    person = WHO.get()
    whose = None if person is None or has_right(person.right, "admin") else person.name
    return compute_usage(session, runtime.store, parse_usage_query(since, until, per, whose, database_time(session)))


TheUsage = Annotated[list[UsageLine], Depends(_read_visible_usage)]


@router.get("/usage", responses=build_problem_responses())
@operators
@declare_example(query={"per": "day"})
def show_usage(lines: TheUsage) -> UsageList:
    """List tokens, GPU-seconds and joules per person and API token. Admins see everybody's, others their own.

    `since` and `until` are inclusive days such as 2026-11-01; left out, the current month is meant."""
    return UsageList(usage=[_to_usage_view(one) for one in lines])


@router.get(
    "/usage.csv", responses={**build_problem_responses(), 200: {"content": {"text/csv": {}}}}, response_class=Response
)
@operators
@declare_example(query={"per": "day"})
def export_usage(lines: TheUsage) -> Response:
    """The same lines as CSV."""
    headers = {"content-disposition": 'attachment; filename="usage.csv"'}
    return Response(format_usage_csv(lines), media_type="text/csv; charset=utf-8", headers=headers)


def _to_usage_view(usage_line: UsageLine) -> UsageView:
    return UsageView.from_source(
        usage_line,
        token=usage_line.token or None,
        gpu_seconds=derive_figure(usage_line.gpu_seconds, "s", HELD, simulated=usage_line.gpus_simulated),
        energy=derive_figure(usage_line.joules, "J", DRAWN, simulated=usage_line.gpus_simulated),
    )
