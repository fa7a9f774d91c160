"""Every address that a template names leads to a route, with the method that the link or the form has."""

import re

import pytest
from starlette.routing import Match

from app.config import PACKAGE
from tests.runs.doors import house

TEMPLATES = PACKAGE / "templates"
TAG = re.compile(r"<(\w+)([^<>]*?(?:href|src|action|hx-get|hx-post)=\"[^<>]*)>", re.DOTALL)
PLACE = re.compile(r'(?:href|src|action|hx-get|hx-post)="(/[^"?#]*)')
FILLED = "x"


def addresses():
    for file in sorted(TEMPLATES.rglob("*.html")):
        text = re.sub(r"\{\{.*?\}\}", FILLED, file.read_text(), flags=re.DOTALL)
        for _, rest in TAG.findall(re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL)):
            method = "POST" if 'method="post"' in rest or "hx-post" in rest else "GET"
            yield from ((file.name, method, place) for place in PLACE.findall(rest))


@pytest.fixture
async def routes(tmp_path):
    async with house(tmp_path / "data") as made:
        yield [route for route in made.application.routes if "{rest" not in route.path]


async def test_every_address_in_a_template_leads_somewhere(routes):
    found = list(addresses())
    lost = [one for one in found if not _leads(routes, *one[1:])]
    assert lost == []
    assert len(found) > 60


async def test_an_address_that_leads_nowhere_would_be_found(routes):
    assert _leads(routes, "POST", "/runs/x/ask")
    assert not _leads(routes, "GET", "/runs/x/ask")
    assert not _leads(routes, "GET", "/rums")
    assert not _leads(routes, "GET", "/static/none.css")


def _leads(routes, method, path):
    if path.startswith("/static/"):
        return (PACKAGE / path.removeprefix("/")).is_file()
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
