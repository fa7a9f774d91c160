"""Filters and columns of the list of runs, declared once: query, API, page, terminal and docs/api.md follow.

It imports nothing but Python's own modules, as the CLI's help needs it quickly.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

RunStatus = Literal["queued", "running", "paused", "finished", "failed", "stopped"]
LONGEST_TAG = 40


@dataclass(frozen=True)
class RunFilter:
    name: str
    """Its parameter in the API and on the page."""
    help: str
    match: Literal["equal", "word", "search"] = "equal"
    """Whether the value equals the column, is a word of it, or has words that occur in the searched columns."""
    column: str = ""
    """The column, if it has another name."""
    option: str = ""
    """Its option in the terminal, if it has another name."""
    choices: tuple[str, ...] = ()
    longest: int = 200

    @property
    def option_help(self) -> str:
        *most, last = self.choices or ("",)
        return f"{self.help.removesuffix('.')}: {', '.join(most)} or {last}." if most else self.help


FILTERS = {
    one.name: one
    for one in (
        RunFilter("state", "Only runs in this state.", choices=get_args(RunStatus)),
        RunFilter("host", "Only runs on this host."),
        RunFilter("tag", "Only runs with this tag.", "word", column="tags", longest=LONGEST_TAG),
        RunFilter(
            "q",
            "Only runs with these words in their id, name, tags, host, skill, mode, note or reason.",
            "search",
            option="search",
        ),
    )
}
SEARCHED = ("id", "name", "tags", "host", "skill", "mode", "note", "reason")
GivenFilters = Mapping[str, str | None]
NO_FILTERS: GivenFilters = MappingProxyType({})


@dataclass(frozen=True)
class RunColumn:
    name: str
    heading: str = ""
    """Its heading on the page; empty if only the terminal shows it."""


COLUMNS = (
    *(
        RunColumn("name"),
        RunColumn("tags"),
        RunColumn("state", "state"),
        RunColumn("waiting_for"),
        RunColumn("host", "host"),
    ),
    *(RunColumn("skill"), RunColumn("mode", "mode"), RunColumn("simulated"), RunColumn("findings")),
    *(RunColumn("passed", "passed"), RunColumn("escalated", "escalated"), RunColumn("deferred", "deferred")),
    *(RunColumn("skipped"), RunColumn("waived"), RunColumn("rolled_back", "rolled back")),
    *(RunColumn("queued_at"), RunColumn("ended_at")),
)
"""Columns of a run after its id, in the terminal and on the page."""


def accept_filters_as_parameters(
    to_parameter: Callable[[RunFilter], inspect.Parameter],
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that takes `filters`, so that FastAPI or Typer sees a parameter for each filter instead."""
    taken = {name: to_parameter(one) for name, one in FILTERS.items()}

    def decorate_function(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call_with_filters(**given: Any) -> Any:
            filters = {name: given.pop(parameter.name) for name, parameter in taken.items()}
            return function(filters=filters, **given)

        signature = inspect.signature(function)
        parameters = [
            parameter
            for one in signature.parameters.values()
            for parameter in (taken.values() if one.name == "filters" else (one,))
        ]
        call_with_filters.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call_with_filters.__annotations__ = {one.name: one.annotation for one in parameters}
        return call_with_filters

    return decorate_function
