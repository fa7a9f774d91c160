"""A page offers a person what this person may do."""

import pytest

from app.lineups.reader import read_lineup, require_lineup_path
from app.people.rights import WHO, Person
from app.web.pages.templating import render_template_to_text

LINEUP = read_lineup(require_lineup_path("simulated"))


@pytest.fixture
def page_of():
    before = WHO.get()

    def drawn(right):
        WHO.set(Person("ada", right, "session"))
        return render_template_to_text("empty.html", nonce="n", here="/", lineup=LINEUP)

    yield drawn
    WHO.set(before)


def test_a_viewer_is_marked_so_that_no_form_is_offered(page_of):
    assert '<body class="viewer"' in page_of("viewer")
    assert "<body class" not in page_of("operator")


def test_an_admin_finds_the_people(page_of):
    assert 'href="/people"' in page_of("admin")
    assert 'href="/people"' not in page_of("operator")
