"""Pages for the list of runs, the comparison of two runs, and one item of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.errors import Rejected
from app.loop.state import Item, RunState
from app.people.rights import can_see_run, get_visible_runs_or_none_for_all, guests
from app.skills.catalog import SHIPPED
from app.store import run_queries
from app.store.run_list_filters_and_columns import (
    COLUMNS,
    FILTERS,
    NO_FILTERS,
    GivenFilters,
    RunFilter,
    accept_filters_as_parameters,
)
from app.store.run_list_pages import ListPlace, read_run_page
from app.targets.host_registry import list_default_and_existing_fixtures, list_hosts
from app.web.deps import TheFolds, TheRuntime, TheSession
from app.web.pages.error_pages import render_missing_run, require_run
from app.web.pages.fleet.fleet_cache import read_rule_titles
from app.web.pages.mission.item import render_item_page
from app.web.pages.run_energy_table import build_energy_table
from app.web.pages.start_run import MODE_CHOICES
from app.web.pages.templating import render_page
from app.web.url_paths import path_to

SHOWN = 50

router = APIRouter(include_in_schema=False)


def _build_endpoint_function_parameter(run_filter: RunFilter) -> Parameter:
    annotation = Annotated[str, Query(max_length=run_filter.longest)]
    return Parameter(run_filter.name, Parameter.POSITIONAL_OR_KEYWORD, default="", annotation=annotation)


@router.get("/runs", name="runs")
@guests
@accept_filters_as_parameters(_build_endpoint_function_parameter)
def show_runs(
    runtime: TheRuntime,
    session: TheSession,
    filters: GivenFilters = NO_FILTERS,
    after: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """List runs by the filters in the query string. `after` is the last run of the previous page."""
    _check_choices(filters)
    last = require_run(session, after) if after else None
    place = ListPlace(forward=True, at=last.queued_at, id=last.id) if last else None
    found = read_run_page(session, filters, place, SHOWN, get_visible_runs_or_none_for_all())
    given = {name: value for name, value in filters.items() if value}
    folder = runtime.settings.hosts_folder
    hosts = [*list_default_and_existing_fixtures(folder), *(one.name for one in list_hosts(folder))]
    context: dict[str, Any] = {
        "rows": found.rows,
        "filters": sorted(FILTERS.values(), key=lambda one: one.match != "search"),
        "asked": filters,
        "columns": [one for one in COLUMNS if one.heading],
        "sifted": bool(given),
        "older": f"{path_to('runs')}?{urlencode(given | {'after': found.rows[-1].id})}" if found.more_after else "",
        "newest": f"{path_to('runs')}?{urlencode(given)}" if last else "",
        "modes": MODE_CHOICES,
        "hosts": hosts
        if get_visible_runs_or_none_for_all() is None
        else [],  # a shared link shows a run, not what else there is
        "skills": SHIPPED.list_names(),
    }
    return render_page("runs.html", here="runs", **context)


def _check_choices(filters: GivenFilters) -> None:
    for one in FILTERS.values():
        if one.choices and (value := filters.get(one.name)) and value not in one.choices:
            raise Rejected(one.name, f"there is no {one.name} {value[:40]!a}; choose one of {', '.join(one.choices)}.")


@dataclass(frozen=True)
class RulePair:
    rule: str
    title: str
    left: "RuleSide"
    right: "RuleSide"

    @property
    def is_different(self) -> bool:
        """True if both runs have decided the rule, with different outcomes."""
        are_known = self.left.known and self.right.known
        return are_known and self.left.outcome_and_attempts != self.right.outcome_and_attempts

    @property
    def difference_text(self) -> str:
        """The change from the left run to the right, in a few words; empty if there is none."""
        if not self.is_different:
            return ""
        (before, tries), (after, later) = self.left.outcome_and_attempts, self.right.outcome_and_attempts
        if before != after:
            return f"{before} → {after}"
        return f"{later - tries:+d} attempt{'s' if abs(later - tries) != 1 else ''}"


@dataclass(frozen=True)
class RuleSide:
    """The result of one rule in one of the two runs."""

    item: Item | None
    known: bool
    """True if the run included the rule and has finished with it."""
    absent: str = ""
    """Why the run has no such item."""

    @property
    def outcome_and_attempts(self) -> tuple[str, int]:
        if self.item is None:
            return self.absent, 0
        return self.item.status, self.item.attempt.number if self.item.attempt else 0


@router.get("/compare", name="compare")
@guests
def compare_runs(
    runtime: TheRuntime,
    session: TheSession,
    folds: TheFolds,
    left: Annotated[str, Query(max_length=40)] = "",
    right: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    rows = [run_queries.find_run(session, one) if can_see_run(one) else None for one in (left, right)]
    if rows[0] is None or rows[1] is None:
        return render_missing_run(session, left if rows[0] is None else right)
    pairs = _pair_items_by_rule(*(folds.read_current(row.id) for row in rows if row))
    return render_page(
        "compare.html",
        here="runs",
        headline=_describe_difference_in_passed_rule_counts(pairs),
        rows=rows,
        pairs=pairs,
        tables=[build_energy_table(runtime, row) for row in rows if row],
    )


def _describe_difference_in_passed_rule_counts(pairs: Sequence[RulePair]) -> str:
    """Compare the numbers of rules that hold after each run, in one sentence."""
    decided = [pair for pair in pairs if pair.left.known and pair.right.known]
    if not decided:
        return "No rule was decided in both runs"
    left, right = sum(_is_compliant(pair.left) for pair in decided), sum(_is_compliant(pair.right) for pair in decided)
    many = "as many as" if left == right else f"{abs(right - left)} {'more' if right > left else 'fewer'} than"
    return f"{right} of {len(decided)} rules pass after the second run, {many} after the first"


def _is_compliant(side: RuleSide) -> bool:
    return side.outcome_and_attempts[0] in ("passed", "no finding")


def _pair_items_by_rule(left: RunState, right: RunState) -> list[RulePair]:
    titles = {**_read_titles(left), **_read_titles(right)}
    rules = dict.fromkeys([*left.items, *right.items])
    return [RulePair(rule, titles.get(rule, ""), _build_side(left, rule), _build_side(right, rule)) for rule in rules]


def _read_titles(state: RunState) -> Mapping[str, str]:
    return read_rule_titles(state.request.skill if state.request else "stig")


def _build_side(state: RunState, rule: str) -> RuleSide:
    if item := state.items.get(rule):
        return RuleSide(item, known=item.status not in ("working", "waiting"))
    if state.request is None or rule not in state.request.rules:
        return RuleSide(None, known=False, absent="not in this run")
    if state.scope is None:
        return RuleSide(None, known=False, absent="not scanned yet")
    compliant = rule in state.scope.compliant
    return RuleSide(None, known=True, absent="no finding" if compliant else "undecided by the scan")


@router.get("/runs/{run}/items/{rule}", name="run_item")
@guests
def show_item(runtime: TheRuntime, session: TheSession, run: str, rule: str) -> Response:
    return render_item_page(runtime, require_run(session, run), rule)
