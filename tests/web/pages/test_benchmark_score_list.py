"""/scores shows what result files say, and does not show one that does not hold."""

from app.config import PACKAGE
from app.scores.scores_markdown import COLUMNS, RESULT_COLUMNS, WORK_COLUMNS
from app.scores.signed_score_file import sign_score
from app.web.pages.benchmark_score_list import HEADS, SHIPPED, TABLES, _build_score_line
from app.web.pages.templating import render_template_to_text
from tests.evidence.played import KEY
from tests.scores.test_score_figures import GOOD, score, trial


def shown(lines, unread=()):
    return render_template_to_text(
        "scores.html", nonce="n", here="/scores", lines=lines, unread=unread, folder="data/scores", tables=TABLES
    )


def test_the_tables_have_the_columns_of_the_paper():
    assert list(HEADS) == list(COLUMNS)
    assert {*RESULT_COLUMNS, *WORK_COLUMNS} == {*COLUMNS}
    assert [*RESULT_COLUMNS[:2]] == [*WORK_COLUMNS[:2]] == [*COLUMNS[:2]]


def test_a_row_is_shown_with_its_provenance_and_labelled(tmp_path):
    file = tmp_path / "mine.json"
    file.write_bytes(sign_score(score(trial(GOOD)), KEY))
    page = shown([_build_score_line(file, is_own=True)])
    assert '<td>1 of 1 <span class="interval">(21%–100%)</span></td>' in page
    assert "simulated host" in page
    assert "Scored here." in page
    assert "m; 2 cores" in page


def test_what_came_with_temper_can_be_shown():
    files = sorted(SHIPPED.glob("*.json"))
    page = shown([_build_score_line(file, is_own=False) for file in files])
    assert PACKAGE.parent / "docs/scores" == SHIPPED
    assert page.count('<th scope="row"') == 2 * len(files) > 0
    assert "the script, an upper bound" in page


def test_an_empty_page_says_how_to_fill_it():
    assert "temper score LINEUP --out data/scores/NAME.json" in shown([])
    assert "Not shown: x.json: it" in shown([], ["x.json: it"])
