"""The filters of the list of runs: each door and the documentation have all of them."""

import inspect
import re

from app.cli.commands.runs import show_runs as show_runs_in_terminal
from app.store.models import RunRow
from app.store.run_list_filters_and_columns import COLUMNS, FILTERS
from app.web.api.runs import list_runs
from app.web.pages.runs import show_runs
from tests.docs.commands import ROOT


def test_each_filter_and_column_is_one_of_a_run():
    assert {one.column or one.name for one in FILTERS.values() if one.match != "search"} <= set(RunRow.model_fields)
    assert {one.name for one in COLUMNS} <= set(RunRow.model_fields)


def test_each_door_takes_every_filter():
    options = [one.option or name for name, one in FILTERS.items()]
    for door, names in ((list_runs, FILTERS), (show_runs, FILTERS), (show_runs_in_terminal, options)):
        assert set(names) <= set(inspect.signature(door).parameters)
        assert "filters" not in inspect.signature(door).parameters


def test_the_documentation_lists_the_filters():
    table = re.findall(r"^\| `\w+` \| `--\w+` \| .+$", (ROOT / "docs/api.md").read_text(), re.MULTILINE)
    rows = [f"| `{name}` | `--{one.option or name}` | {one.option_help} |" for name, one in FILTERS.items()]
    assert table == rows
