"""Colours and density come from the reader's cookie, and only in words that a page offers."""

import re

import pytest

from app.config import PACKAGE
from app.web.pages.appearance_cookie import Appearance, parse_appearance_cookie
from tests.runs.doors import house


@pytest.mark.parametrize(
    ("cookie", "looks"),
    [
        ("", Appearance()),
        ("dark.", Appearance("dark")),
        (".compact", Appearance("", "compact")),
        ("light.compact", Appearance("light", "compact")),
        ('"><script>.<b>', Appearance()),
    ],
)
def test_words_that_no_page_offers_count_as_not_chosen(cookie, looks):
    assert parse_appearance_cookie(cookie) == looks


async def test_every_page_is_drawn_as_chosen_and_an_error_page_too(tmp_path):
    async with house(tmp_path) as made:
        browser = {"accept": "text/html", "cookie": "temper-looks=dark.compact"}
        for path in ("/runs", "/nowhere"):
            page = (await made.http.get(path, headers=browser)).text
            assert '<html lang="en" data-scheme="dark" data-density="compact">' in page
            assert '<meta name="color-scheme" content="dark">' in page
        assert '<html lang="en">' in (await made.http.get("/runs")).text


def test_light_colours_are_the_same_by_choice_and_by_system():
    css = (PACKAGE / "static" / "temper.css").read_text()
    chosen, system = re.findall(r':root(?:\[data-scheme="light"\]|:not\(\[data-scheme\]\)) \{([^}]*--bg[^}]*)\}', css)
    assert chosen.split() == system.split()
