"""Render docs/scores.md from result files. The web page shows the same rows."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path

from app.engines.model_size_from_name import find_model_billions
from app.scores.score_figures import Mean, ScoreRow, Share, compute_share_with_interval
from app.text.clean import clean_line

HEAD = Path(__file__).with_suffix(".md")
SEND_IN = Path(__file__).with_name("send_a_score_in.md")
SIZES = (0.0, 1.0, 4.0, 10.0, 20.0, 40.0, 100.0, inf)
"""Bounds of the table by size, in billions of parameters."""
MOST_BEST = 3


def render_scores_markdown(rows: Sequence[ScoreRow]) -> str:
    lines = [
        HEAD.read_text(encoding="utf-8"),
        *_render_table(RESULT_COLUMNS, rows),
        "",
        "What the work took, and where it ended:",
        "",
        *_render_table(WORK_COLUMNS, rows),
    ]
    notes = (
        f"- **{format_name_marking_simulation(row)}, {clean_line(row.hosts, 80)}**: {describe_how_score_was_made(row)}."
        for row in rows
    )
    return (
        "\n".join([*lines, "", "Where each row comes from:", "", *notes, "", *_render_model_size_table(rows)]).rstrip()
        + "\n"
    )


def _render_model_size_table(rows: Sequence[ScoreRow]) -> list[str]:
    """Return the table by size of model, with a place for each size that nobody has scored."""
    places = [
        _render_table_row(("size", "models", "fixed by its roles, best row of each")),
        _render_table_row(("---",) * 3),
    ]
    for low, high in pairwise(SIZES):
        found = [row for row in rows if (size := _find_size(row)) is not None and low <= size < high]
        bounds = f"{low:g}B to below {high:g}B" if low else f"below {high:g}B"
        name = f"{low:g}B and more" if high == inf else bounds
        best = sorted(found, key=lambda row: -_count_fixed_by_roles(row).low)[:MOST_BEST]
        models = ", ".join(dict.fromkeys(format_name(row) for row in best)) or "none yet: yours?"
        shares = "; ".join(f"{format_share(_count_fixed_by_roles(row))}, {clean_line(row.hosts, 40)}" for row in best)
        places.append(_render_table_row((name, models, shares or "—")))
    return [*SEND_IN.read_text(encoding="utf-8").splitlines(), "", *places]


def _count_fixed_by_roles(row: ScoreRow) -> Share:
    return compute_share_with_interval(row.fixed.count - (row.fixed_without_role or 0), row.fixed.of)


def _find_size(row: ScoreRow) -> float | None:
    """Return the size of the model by the row's names, or None for baselines, scripts and unnamed sizes."""
    if row.score.order.kind != "line-up" or row.score.simulated:
        return None
    return find_model_billions(" ".join((row.score.order.label, *row.score.models)))


def _render_table(columns: Sequence[str], rows: Sequence[ScoreRow]) -> list[str]:
    lines = [[_CELLS[name](row) for name in columns] for row in rows]
    heads = ["**harm that stayed**" if name == "harm that stayed" else name for name in columns]
    return [_render_table_row(line) for line in (heads, ["---"] * len(columns), *lines)]


def render_cells(row: ScoreRow) -> dict[str, str]:
    """Return every cell of a row by the name of its column."""
    return {name: render(row) for name, render in _CELLS.items()}


def format_name(row: ScoreRow) -> str:
    return clean_line("the script, an upper bound" if row.score.simulated else row.score.order.label, 80)


def format_name_marking_simulation(row: ScoreRow) -> str:
    played = [*(["engine"] if row.score.simulated else []), *(["host"] if row.score.simulated_host else [])]
    return format_name(row) + (f" (SIMULATED {' and '.join(played)})" if played else "")


def format_share(share: Share | None) -> str:
    if share is None or share.of == 0:
        return "—"
    return f"{share.count} of {share.of} ({share.low:.0%}–{share.high:.0%})"


def format_mean(mean: Mean | None) -> str:
    return "—" if mean is None else f"{mean.value:.1f} ({mean.low:.1f}–{mean.high:.1f})"


def describe_how_score_was_made(row: ScoreRow) -> str:
    score, count = row.score, len(row.score.trials)
    parts = [
        f"{count} fresh host{'' if count == 1 else 's'} on {score.made_at}",
        f"Temper {score.temper}",
        f"judged by {score.scanner}" if score.scanner else "",
        f"{'a script plays' if score.simulated else 'models'} {', '.join(score.models)}" if score.models else "",
        score.machine,
        f"{format_share(row.readable)} answers readable" if row.readable else "",
        f"hosts from a seed whose digest is {score.order.held_back[:16]}…" if score.order.held_back else "",
        *(f"{count} not run, for want of {what}" for what, count in row.not_run),
        score.note.rstrip("."),
    ]
    return clean_line("; ".join(part for part in parts if part), 1200)


def _render_table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(word.replace('|', '/') for word in cells)} |"


_CELLS: dict[str, Callable[[ScoreRow], str]] = {
    "what was scored": format_name_marking_simulation,
    "hosts": lambda row: clean_line(row.hosts, 80),
    "findings": lambda row: str(row.findings),
    "scanner passes": lambda row: str(row.passes),
    "fixed": lambda row: format_share(row.fixed),
    "harm that stayed": lambda row: format_share(row.harm_stayed),
    "ways to root left": lambda row: "—" if row.ways is None else "{1} of {0}".format(*row.ways),
    "gamed": lambda row: format_share(row.gamed),
    "left to a person": lambda row: "—" if row.left_to_person is None else str(row.left_to_person),
    "harmed and undone": lambda row: str(row.harmed_and_undone),
    "refused": lambda row: str(row.refused),
    "fixed without a role": lambda row: "—" if row.fixed_without_role is None else str(row.fixed_without_role),
    "handed on rightly": lambda row: format_share(row.handed_on),
    "failed at": lambda row: ", ".join(f"{where} {count}" for where, count in row.failed_at) or "—",
    "turns": lambda row: format_mean(row.turns),
    "tokens": lambda row: format_mean(row.tokens),
    "seconds per finding": lambda row: format_mean(row.seconds),
    "minutes per host": lambda row: format_mean(row.minutes_per_host),
    "J per fix": lambda row: "—" if row.joules_per_fix is None else f"{row.joules_per_fix:.0f}",
}
COLUMNS = tuple(_CELLS)
RESULT_COLUMNS = COLUMNS[: COLUMNS.index("harmed and undone")]
"""What became of the hosts."""
WORK_COLUMNS = (*COLUMNS[:2], *COLUMNS[len(RESULT_COLUMNS) :])
"""What the work took, with the names of the rows again."""
