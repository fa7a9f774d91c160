"""Start runs, find them and change their labels."""

from inspect import Parameter
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from sqlmodel import Session

from app.events.kinds import RunQueued
from app.people.rights import get_visible_runs_or_none_for_all, guests, operators
from app.runs.fix_forecast import RunForecast
from app.runs.name_and_tags import LONGEST_NAME, MOST_TAGS, set_run_labels
from app.runs.order import create_run_request
from app.runtime.runtime import Runtime, create_random_run_id
from app.store import run_queries
from app.store.models import RunRow
from app.store.run_list_filters_and_columns import (
    LONGEST_TAG,
    NO_FILTERS,
    GivenFilters,
    RunFilter,
    accept_filters_as_parameters,
)
from app.store.run_list_pages import ListPlace, RunPage, read_run_page
from app.store.session_shared_within_request import open_read_session
from app.targets.host_registry import is_fixture
from app.web.api import page_cursor
from app.web.api.api_model import ApiModel, Limit, Link, Raw, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.idempotency import FIELD, REPLAY, TheKeys
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.api.run_order_models import RunOrder
from app.web.api.run_response_model import RunLinks, RunList, RunView, create_run_links, to_run_view
from app.web.deps import TheRuntime, TheSession

router = api_router("runs")

Key = Annotated[
    str | None,
    Header(
        alias=FIELD,
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="A repeated request with this key returns the same run, for a day.",
    ),
]


class Accepted(ApiModel):
    id: str
    links: RunLinks


class RunChange(ApiModel):
    """Fields left out stay unchanged."""

    name: str | None = declare_field_with_unchecked_bounds(
        default=None, maxLength=LONGEST_NAME, description="New name; an empty string removes it."
    )
    tags: (
        list[Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST_TAG, examples=["nightly"])]] | None
    ) = declare_field_with_unchecked_bounds(
        default=None, maxItems=MOST_TAGS, description="All tags of the run; they replace the former ones."
    )


class FindingForecastView(ApiModel):
    rule: str
    title: str
    source: str = Field(description="Where the accepted proposal comes from; empty if none is accepted.")
    actions: list[Raw]
    asks_a_person: bool = Field(description="A person is asked before this change in every mode.")
    question: str = Field(description="What is left to a model or to a person; empty if a proposal is accepted.")
    reason: str = Field(description="Why no proposal is accepted.")


class ForecastView(ApiModel):
    host: str
    skill: str
    simulated: bool = Field(description="True if the host is simulated by files.")
    rules: int = Field(description="Rules that were scanned.")
    seconds: float | None = Field(
        description="Expected duration, derived from the median time per finding of the host's last runs in mode auto; "
        "null if there was none."
    )
    findings: list[FindingForecastView]


@router.post(
    "/runs",
    status_code=202,
    responses={
        **build_problem_responses("unknown-rule", "key-in-flight", "unavailable", *BODY_PROBLEMS),
        202: {"headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the run."}, **REPLAY}},
    },
)
@operators
@declare_example(
    {"host": "fixture", "rules": ["V-257820", "V-257985"], "mode": "auto", "note": "nightly", "by": "ci"},
    headers={"Idempotency-Key": "nightly-2026-11-26"},
)
async def start_run(
    order: RunOrder, runtime: TheRuntime, keys: TheKeys, response: Response, key: Key = None
) -> Accepted:
    """Start a run. It is queued at once; runs on one host execute one after the other."""
    run = await keys.find_made(key, order, response)
    if run is None:
        asked = order.to_order(runtime.settings.speed)
        event = await run_in_threadpool(create_run_request, asked, runtime.lineup, runtime.settings.hosts_folder)
        async with keys.claim(key, order, create_random_run_id(), response) as claimed:
            run = claimed.id
            if not claimed.is_made:
                await runtime.submit_run(event, run)
    accepted = Accepted(id=run, links=create_run_links(run))
    response.headers["location"] = accepted.links.self
    return accepted


@router.post("/runs/forecast", responses=build_problem_responses("unknown-rule", "unavailable", *BODY_PROBLEMS))
@operators
@declare_example({"host": "fixture", "rules": ["V-257984", "V-258057", "V-257989"], "mode": "auto"})
async def forecast_run(order: RunOrder, runtime: TheRuntime) -> ForecastView:
    """Say what this run would probably do. The host is scanned now; nothing is changed or recorded."""
    asked = order.to_order(runtime.settings.speed)
    event = await run_in_threadpool(create_run_request, asked, runtime.lineup, runtime.settings.hosts_folder)
    found = await runtime.scan_and_forecast_fixes(event.host, event.skill, event.rules)
    return _to_forecast_view(event, found)


def _declare_filter_parameter(run_filter: RunFilter) -> Parameter:
    searches, about = run_filter.match == "search", Query(max_length=run_filter.longest, description=run_filter.help)
    annotation: Any = Annotated[str, about] if searches else Annotated[str | None, about]
    if run_filter.choices:
        literal: Any = Literal
        annotation = literal[run_filter.choices] | None
    default = "" if searches else None
    return Parameter(run_filter.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


@router.get("/runs", responses=build_problem_responses("bad-cursor"))
@guests
@accept_filters_as_parameters(_declare_filter_parameter)
@declare_example(query={"state": "finished", "limit": "1"})
def list_runs(
    session: TheSession,
    cursor_: Annotated[str | None, Query(alias="cursor", max_length=200)] = None,
    filters: GivenFilters = NO_FILTERS,
    limit: Limit = 50,
) -> RunList:
    """List runs, newest first."""
    place = page_cursor.parse_page_cursor(cursor_) if cursor_ is not None else None
    found = read_run_page(session, filters, place, limit, get_visible_runs_or_none_for_all())
    return RunList(runs=[to_run_view(row) for row in found.rows], cursors=_to_neighbor_cursors(found))


@router.get("/runs/{run}", responses=build_problem_responses("not-found"))
@guests
def show_run(run: str, session: TheSession) -> RunView:
    """Show a run with its state, counts and links."""
    return to_run_view(require_run_row(session, run))


@router.patch("/runs/{run}", responses=build_problem_responses("not-found", *BODY_PROBLEMS))
@operators
@declare_example({"name": "before the audit", "tags": ["nightly"]})
def change_run(run: Annotated[str, Path(max_length=40)], change: RunChange, session: TheSession) -> RunView:
    """Set a run's name and tags, also after it has ended. Its log and papers stay unchanged."""
    row = require_run_row(session, run)
    set_run_labels(row, change.name, change.tags)
    session.add(row)
    return to_run_view(row)


def require_run_row(session: Session, run: str) -> RunRow:
    row = run_queries.find_run(session, run)
    if row is None:
        raise Problem("not-found", f"There is no run {run[:40]!a}: GET /api/v1/runs lists them.", field="run")
    return row


def read_required_run_row(runtime: Runtime, run: str) -> RunRow:
    """Return a run, or raise Problem. Opens its own session, for streams, which must not hold one."""
    with open_read_session(runtime.database) as session:
        return require_run_row(session, run)


def _to_forecast_view(queued_event: RunQueued, forecast: RunForecast) -> ForecastView:
    findings, host = [one.to_row() for one in forecast.findings], queued_event.host
    return ForecastView.from_source(
        forecast, host=host, skill=queued_event.skill, simulated=is_fixture(host), findings=findings
    )


def _to_neighbor_cursors(page: RunPage) -> Link:
    first, last = (page.rows[0], page.rows[-1]) if page.rows else (None, None)
    return Link(
        next=_to_page_cursor(last, forward=True) if page.more_after else None,
        previous=_to_page_cursor(first, forward=False) if page.more_before else None,
    )


def _to_page_cursor(row: RunRow | None, *, forward: bool) -> str | None:
    return page_cursor.format_page_cursor(ListPlace(forward, row.queued_at, row.id)) if row else None
