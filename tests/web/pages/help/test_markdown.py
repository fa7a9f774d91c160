"""Markdown becomes HTML with anchors, and the words of each section are kept for search."""

from app.web.pages.help.markdown import create_anchor, render_help_document

TEXT = """# The title

Words with `code` and
a second line.

## A heading, with `code`

| a | b |
|---|---|
| 1 | 2 |

```sh
temper run
```

## A heading, with `code`

<script>alert(1)</script>

[a page](other.md#part) and [a file](../app/main.py), ![seen](pictures/end.png)
"""


def render(link_target=lambda link: f"/help/{link}" if not link.startswith("..") else None):
    return render_help_document(TEXT, link_target)


def test_every_heading_has_an_anchor_of_its_own_and_its_words():
    document = render()
    assert document.title == "The title"
    assert [(one.anchor, one.level) for one in document.sections] == [
        ("the-title", 1),
        ("a-heading-with-code", 2),
        ("a-heading-with-code-1", 2),
    ]
    assert document.sections[0].text == "Words with code and a second line."
    assert document.sections[1].text == "a b 1 2 temper run"
    assert '<h2 id="a-heading-with-code-1">' in document.html


def test_a_link_leads_where_the_site_says_or_becomes_plain_words():
    html = render().html
    assert '<a href="/help/other.md#part">a page</a>' in html
    assert '<a class="elsewhere">a file</a>' in html
    assert 'src="/help/pictures/end.png"' in html


def test_markup_in_the_text_is_escaped():
    assert "<script>" not in render().html
    assert "&lt;script&gt;" in render().html


def test_a_table_scrolls_in_a_frame_that_the_keyboard_reaches():
    assert '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>' in render().html.replace("\n", "")


def test_anchors_are_those_of_code_hosts():
    assert create_anchor("What it costs (2026-11-22), and why", set()) == "what-it-costs-2026-11-22-and-why"
