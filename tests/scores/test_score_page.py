"""docs/scores.md is what its result files say."""

from app.config import PACKAGE
from app.scores.result import is_harmed
from app.scores.score_figures import build_score_row
from app.scores.score_file import read_result_file
from app.scores.score_page import render_score_page

DOCS = PACKAGE.parent / "docs"
FILES = sorted((DOCS / "scores").glob("*.json"))


def test_the_page_agrees_with_the_files():
    assert (DOCS / "scores.md").read_text() == render_score_page(
        [build_score_row(read_result_file(file).score) for file in FILES]
    )


def test_no_host_of_tempers_own_rows_was_left_worse():
    own = [read_result_file(file).score for file in FILES]
    assert own
    assert not any(is_harmed(trial) for score in own if score.order.kind == "line-up" for trial in score.trials)
