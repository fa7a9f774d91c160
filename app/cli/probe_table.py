"""Print a probe as a table, with a letter for each number's provenance and notes below."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.machine.measuring.figure_comparison import ComparedRow, ProbeComparison
from app.machine.measuring.probe_figures import Measured

LEGEND = "m measured · d derived · e estimated · s simulated · ratio: now ÷ before"


def print_comparison(one: ProbeComparison, console: Console) -> None:
    where = f"GPU {' + '.join(map(str, one.gpus))}" if one.gpus else "CPU"
    played = " · SIMULATED" if one.now and one.now.simulated else ""
    console.print(Text(f"\n{one.title}, {where}{played}", style="bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column("")
    for heading in ("plan", "reported", "now", "before", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in one.rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.label, row.unit, *_format_cells(row), ratio)
    console.print(table)
    for line in (LEGEND, *_iterate_notes(one)):
        console.print(Text(line), soft_wrap=True)


def _format_cells(row: ComparedRow) -> Iterator[str]:
    yield _format_cell(row.plan, row.digits, row.bound)
    for figure in (row.reported, row.now, row.before):
        yield _format_cell(figure, row.digits)


def _format_cell(figure: Measured | None, digits: int, bound: str = "") -> str:
    if figure is None or figure.value is None:
        return "—"
    return f"{bound}{figure.value:,.{digits}f} {figure.provenance[0]}"


def _iterate_notes(one: ProbeComparison) -> Iterator[str]:
    if one.verdict:
        yield f"plan: {one.verdict}"
    if one.limit and one.limit.value is not None:
        yield f"speed limit of one stream: {one.limit.value:.1f} tok/s, {one.limit.provenance}: {one.limit.source}"
    if one.now:
        yield from one.now.notes
        if one.now.problem:
            yield one.now.problem
    if one.before and one.changed:
        yield f"changed since the previous probe: {'; '.join(one.changed)}"
