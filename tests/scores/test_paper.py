"""docs/scores.md is what its result files say."""

from app.config import PACKAGE
from app.scores.figures import row
from app.scores.file import read_file
from app.scores.paper import paper
from app.scores.result import harmed

DOCS = PACKAGE.parent / "docs"
FILES = sorted((DOCS / "scores").glob("*.json"))


def test_the_page_agrees_with_the_files():
    assert (DOCS / "scores.md").read_text() == paper([row(read_file(file).score) for file in FILES])


def test_no_host_of_tempers_own_rows_was_left_worse():
    own = [read_file(file).score for file in FILES]
    assert own
    assert not any(harmed(trial) for score in own if score.order.kind == "line-up" for trial in score.trials)
