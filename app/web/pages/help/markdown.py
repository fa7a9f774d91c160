"""Markdown to HTML, with the anchors, the links and the words that a site needs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.token import Token

LinkTarget = Callable[[str], str | None]
"""Where a link of the text leads on the site; None if the site has nothing there."""


@dataclass(frozen=True)
class HelpSection:
    """A heading with its anchor and the plain words below it."""

    anchor: str
    heading: str
    level: int
    text: str


@dataclass(frozen=True)
class HelpDocument:
    title: str
    html: str
    sections: tuple[HelpSection, ...]


def render_help_document(text: str, link_target: LinkTarget) -> HelpDocument:
    """Return the text as HTML. Markup inside the text is escaped; a link that leads nowhere becomes plain words."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    sections = _anchor_and_collect_sections(tokens)
    for token in chain.from_iterable([one, *(one.children or ())] for one in tokens):
        _rewrite_link(token, link_target)
        _replace_alignment_style(token)
    html = parser.renderer.render(_wrap_tables(tokens), parser.options, {})
    return HelpDocument(sections[0].heading if sections else "", html, tuple(sections))


def create_anchor(heading: str, taken_anchors: set[str]) -> str:
    """Return the anchor that code hosts give a heading; a repeated one gets a number."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    anchor, count = plain, 0
    while anchor in taken_anchors:
        count += 1
        anchor = f"{plain}-{count}"
    taken_anchors.add(anchor)
    return anchor


def _anchor_and_collect_sections(tokens: list[Token]) -> list[HelpSection]:
    """Return the sections in their order; each heading is given its anchor on the way."""
    taken: set[str] = set()
    found: list[tuple[str, str, int, list[str]]] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline" and before is not None and before.type == "heading_open":
            heading = _plain_words(token)
            before.attrs["id"] = anchor = create_anchor(heading, taken)
            found.append((anchor, heading, int(before.tag[1]), []))
        elif found and token.type in ("inline", "fence", "code_block"):
            found[-1][-1].append(_plain_words(token) if token.type == "inline" else token.content)
    return [
        HelpSection(anchor, heading, level, " ".join(" ".join(words).split()))
        for anchor, heading, level, words in found
        if heading
    ]


def _plain_words(inline: Token) -> str:
    return "".join(" " if one.type.endswith("break") else one.content for one in inline.children or ())


def _rewrite_link(token: Token, link_target: LinkTarget) -> None:
    name = {"link_open": "href", "image": "src"}.get(token.type)
    if name is None:
        return
    target = link_target(str(token.attrs[name]))
    if target is not None:
        token.attrs[name] = target
    elif name == "href":
        token.attrs = {"class": "elsewhere"}  # an anchor without an address is plain text


def _replace_alignment_style(token: Token) -> None:
    """A column's alignment comes as an inline style, which the server's content policy forbids."""
    if "right" in str(token.attrs.pop("style", "")):
        token.attrs["class"] = "n"


def _wrap_tables(tokens: list[Token]) -> list[Token]:
    """A wide table scrolls in a frame of its own, which the keyboard can reach."""
    made: list[Token] = []
    for token in tokens:
        if token.type == "table_open":
            made.append(_create_html_token('<div class="wide" tabindex="0" role="group" aria-label="Table">'))
        made.append(token)
        if token.type == "table_close":
            made.append(_create_html_token("</div>"))
    return made


def _create_html_token(text: str) -> Token:
    return Token("html_block", "", 0, content=text)
