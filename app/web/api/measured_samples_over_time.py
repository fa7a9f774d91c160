"""Samples of engines and GPUs on a common time grid, with events as marks."""

from datetime import UTC, datetime
from typing import Annotated, Literal, get_args

from fastapi import Query
from pydantic import Field

from app.events.event_field_types import Provenance
from app.events.record import format_timestamp
from app.machine.sampling.event_marks import MarkKind, read_event_marks
from app.machine.sampling.sample_thinning_by_age import Thinning
from app.machine.sampling.series_on_time_grid import Grid, How, SeriesKey, Values
from app.machine.sampling.token_rates_of_one_run import compute_run_token_rates
from app.people.rights import can_see_run, get_visible_runs_or_none_for_all, guests
from app.runtime.runtime import Runtime
from app.web.api.api_model import ApiModel, Time
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import Problem, build_problem_responses
from app.web.api.runs import read_required_run_row
from app.web.deps import TheRuntime

router = api_router("machine")

USUAL_SECONDS, USUAL_STEPS, MOST_STEPS = 120.0, 720, 5000
LATEST = 32503680000.0
"The year 3000. A wrong clock may reach it."
NICE = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
Kind = Literal["engine", "gpu", "role", "run", "mark"]

_ENGINE_FIGURES: dict[str, tuple[str, Provenance, str]] = {
    "tok_s": ("token/s", "derived", "growth of vllm:generation_tokens_total"),
    "prompt_tok_s": ("token/s", "derived", "growth of vllm:prompt_tokens_total"),
    "running": ("request", "measured", "vllm:num_requests_running"),
    "waiting": ("request", "measured", "vllm:num_requests_waiting"),
    "kv_used": ("%", "measured", "vllm:kv_cache_usage_perc"),
    "ttft_s": ("s", "derived", "growth of vllm:time_to_first_token_seconds"),
}
_GPU_SENSORS = {"used_gib": "GiB", "power_w": "W", "utilization": "%", "temperature_c": "Cel"}
"""Read from the card; a GPU's other figures are parts of its memory."""


class SampleSeries(ApiModel):
    kind: Literal["engine", "gpu", "role", "run"]
    of: str = Field(description="Name of the engine, index of the GPU on its machine, or the role; of a run, the role.")
    host: str = Field(description="Machine of a GPU; empty for this machine.")
    figure: str
    unit: str
    provenance: Provenance
    source: str
    how: How = Field(description="How samples of a step are combined: their mean or their maximum.")
    values: Values = Field(description="One value for each of `times`; None means unknown, never 0.")


class Mark(ApiModel):
    at: float
    kind: MarkKind
    run: str = Field(description="Run of the mark; empty for a mark of an engine.")
    seq: int
    text: str


class Samples(ApiModel):
    since: Time
    until: Time
    step: float = Field(description="Seconds. It may be longer than requested, since older samples are downsampled.")
    times: list[float] = Field(description="Start of each step, in seconds since 1970.")
    series: list[SampleSeries]
    marks: list[Mark] = Field(description="The newest marks, at most 500, oldest first.")


When = Annotated[
    str | None, Query(max_length=40, description="Seconds since 1970, or a time such as 2026-01-31T12:00:00Z.")
]


@router.get("/samples", responses=build_problem_responses("not-found"))
@guests
@declare_example(query={"kind": "engine", "engine": "gemma-31b", "figure": "tok_s"})
def list_samples(
    runtime: TheRuntime,
    since: When = None,
    until: When = None,
    step: Annotated[
        float | None,
        Query(ge=1, le=86400, description="Length of a step in seconds. Default: long enough for at most 720 steps."),
    ] = None,
    kind: Annotated[str, Query(max_length=60, description="engine, gpu, role, run and mark, separated by commas.")] = (
        "engine,gpu,role,mark"
    ),
    engine: Annotated[str, Query(max_length=100, description="Only this engine.")] = "",
    gpu: Annotated[str, Query(max_length=10, description="Only the GPU with this index.")] = "",
    figure: Annotated[str, Query(max_length=300, description="Only these figures, separated by commas.")] = "",
    run: Annotated[
        str, Query(max_length=40, description="Only marks of this run, and for the kind `run` its own tokens.")
    ] = "",
) -> Samples:
    """List samples. They are kept by the second for 6 hours, by 10 seconds for a day, by minute and hour for a year."""
    kinds, now = _parse_sample_kinds(kind), runtime.clock.now()
    end = now if until is None else _parse_time(until, "until")
    begin = end - USUAL_SECONDS if since is None else _parse_time(since, "since")
    width = choose_requested_or_fitted_step(begin, end, step)
    found = _read_marks(runtime, run, begin, end) if "mark" in kinds else []
    if kinds == {"mark"}:
        return Samples(
            since=format_timestamp(begin), until=format_timestamp(end), step=width, times=[], series=[], marks=found
        )
    if (end - begin) / width > MOST_STEPS:
        said = f"The result would have more than {MOST_STEPS} steps. Request a longer step or a shorter time."
        raise Problem("invalid", said, field="step")
    grid = Thinning(runtime.store).read(begin, end, width, now)
    own = _read_run_rates(runtime, run, grid) if "run" in kinds else {}
    series = [
        to_sample_series(key, values)
        for key, values in (grid.to_series() | own).items()
        if key.kind in kinds
        and (not figure or key.figure in figure.split(","))
        and _is_kept_by_name_filter(key, "engine", engine)
        and _is_kept_by_name_filter(key, "gpu", gpu)
    ]
    return Samples.from_source(grid, series=series, marks=found)


def _parse_sample_kinds(text: str) -> set[str]:
    asked = {one.strip() for one in text.split(",")}
    if unknown := asked - set(get_args(Kind)):
        said = f"There is no kind {min(unknown)[:40]!a}. The kinds are {', '.join(get_args(Kind))}."
        raise Problem("invalid", said, field="kind")
    return asked


def _read_run_rates(runtime: Runtime, run: str, grid: Grid) -> dict[SeriesKey, Values]:
    if not run:
        raise Problem("invalid", "The kind run needs a run: name it.", field="run")
    row = read_required_run_row(runtime, run)
    return compute_run_token_rates(runtime.store, run, grid, simulated=row.simulated) if can_see_run(run) else {}


def _is_kept_by_name_filter(key: SeriesKey, filtered_kind: str, name: str) -> bool:
    return not name or key.kind != filtered_kind or key.of == name


def _parse_time(text: str, field: str) -> float:
    try:
        at = float(text)
    except ValueError:
        try:
            told = datetime.fromisoformat(text)
            at = (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError) as exc:
            said = f"{text[:40]!a} is not a time. Give seconds since 1970, or a time such as 2026-01-31T12:00:00Z."
            raise Problem("invalid", said, field=field) from exc
    if not 0 <= at <= LATEST:
        raise Problem("invalid", f"{text[:40]!a} is outside the times that can have samples.", field=field)
    return at


def choose_requested_or_fitted_step(begin: float, end: float, requested_step: float | None = None) -> float:
    """Return the requested step, or one long enough for at most 720 steps."""
    if begin >= end:
        raise Problem("invalid", "since must be before until.", field="since")
    return requested_step or next(
        (float(nice) for nice in NICE if (end - begin) / nice <= USUAL_STEPS), float(NICE[-1])
    )


def _read_marks(runtime: Runtime, run: str, begin: float, end: float) -> list[Mark]:
    shown = get_visible_runs_or_none_for_all()
    if run:
        read_required_run_row(runtime, run)
        shown = (run,) if can_see_run(run) else ()
    return [Mark.from_source(one) for one in read_event_marks(runtime.store, shown, begin, end)]


def to_sample_series(key: SeriesKey, values: Values) -> SampleSeries:
    unit, provenance, source = _get_unit_provenance_and_source(key)
    known = "simulated" if key.simulated else provenance
    return SampleSeries.from_source(key, unit=unit, provenance=known, source=source, how=key.aggregation, values=values)


def _get_unit_provenance_and_source(key: SeriesKey) -> tuple[str, Provenance, str]:
    """Return unit, provenance and source."""
    if key.kind == "run":
        return _ENGINE_FIGURES[key.figure][0], "derived", "tokens of the run's turns, from its log"
    if key.kind == "role":
        return _ENGINE_FIGURES[key.figure][0], "derived", "tokens of its turns, as the log took them in"
    if key.kind == "engine":
        return _ENGINE_FIGURES[key.figure]
    if unit := _GPU_SENSORS.get(key.figure):
        return unit, "measured", f"DCGM of {key.host}" if key.host else "NVML"
    return "GiB", "derived", "memory told apart by processes, logs and plans"
