"""Colours and density out of a cookie."""

import pytest

from app.web.pages.looks import Looks, parse_looks


@pytest.mark.parametrize(
    ("cookie", "looks"),
    [
        ("dark.compact", Looks("dark", "compact")),
        ("light.", Looks("light", "")),
        (".compact", Looks("", "compact")),
        ("", Looks()),
        ('dark".x', Looks()),
        ("<script>.<b>", Looks()),
    ],
)
def test_only_what_a_page_offers_counts(cookie, looks):
    assert parse_looks(cookie) == looks
