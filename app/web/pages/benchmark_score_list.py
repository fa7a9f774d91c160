"""The scores page: results from this machine and those shipped in docs/scores."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from app.config import PACKAGE
from app.errors import BadInput
from app.people.rights import viewers
from app.scores.public_score import read_verified_full_or_public_score
from app.scores.score_figures import ScoreRow, build_score_row
from app.scores.scores_markdown import (
    RESULT_COLUMNS,
    WORK_COLUMNS,
    describe_how_score_was_made,
    format_name,
    render_cells,
)
from app.web.deps import TheRuntime
from app.web.pages.templating import render_page

SHIPPED = PACKAGE.parent / "docs" / "scores"
HEADS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, str])
"""Columns in their order, each with what it says."""
TABLES = {"heads": HEADS, "results": RESULT_COLUMNS[1:], "work": WORK_COLUMNS[1:]}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ScoreLine:
    row: ScoreRow
    name: str
    cells: dict[str, str]
    provenance: str
    here: bool


@router.get("/scores", name="scores")
@viewers
def show_scores(runtime: TheRuntime) -> Response:
    own = runtime.settings.data / "scores"
    lines, unread = [], []
    for folder in (SHIPPED, own):
        for file in sorted(folder.glob("*.json")):
            try:
                lines.append(_build_score_line(file, is_own=folder == own))
            except BadInput as exc:
                unread.append(str(exc))  # list the error instead of a score that fails its check
    return render_page("scores.html", here="scores", lines=lines, unread=unread, folder=own, tables=TABLES)


def _build_score_line(file: Path, *, is_own: bool) -> ScoreLine:
    made = build_score_row(read_verified_full_or_public_score(file))
    return ScoreLine(made, format_name(made), render_cells(made), describe_how_score_was_made(made), is_own)
