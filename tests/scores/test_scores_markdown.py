"""docs/scores.md is what its result files say."""

import msgspec

from app.config import PACKAGE
from app.scores.public_score import read_verified_full_or_public_score
from app.scores.score_figures import build_score_row
from app.scores.score_structures import has_worse_probe_or_rollback_leftover
from app.scores.scores_markdown import SIZES, render_scores_markdown

DOCS = PACKAGE.parent / "docs"
FILES = sorted((DOCS / "scores").glob("*.json"))


def test_the_page_agrees_with_the_files():
    assert (DOCS / "scores.md").read_text() == render_scores_markdown(
        [build_score_row(read_verified_full_or_public_score(file)) for file in FILES]
    )


def test_each_size_has_a_place_and_a_row_stands_in_its_own():
    made = [build_score_row(read_verified_full_or_public_score(file)) for file in FILES]
    places = render_scores_markdown(made).partition("## By size of model")[2].splitlines()
    rows = [line for line in places if line.startswith("| ") and "B " in line.split("|")[1]]
    assert len(rows) == len(SIZES) - 1
    assert "smollm2-135m" in rows[0]
    assert "chance" not in "".join(rows)
    named = made[FILES.index(next(file for file in FILES if "8-smollm2" in file.name))]
    order = msgspec.structs.replace(named.score.order, label="qwen3-8b")
    larger = build_score_row(msgspec.structs.replace(named.score, order=order, models=()))
    [eight] = [line for line in render_scores_markdown([larger]).splitlines() if line.startswith("| 4B to below 10B")]
    assert "qwen3-8b" in eight


def test_no_host_of_tempers_own_rows_was_left_worse():
    own = [read_verified_full_or_public_score(file) for file in FILES]
    assert own
    assert not any(
        has_worse_probe_or_rollback_leftover(trial)
        for score in own
        if score.order.kind == "line-up"
        for trial in score.trials
    )
