"""Pages and code say where a page is by its route's name, and every name leads somewhere."""

import ast
import re

import pytest
from jinja2 import nodes
from starlette.routing import Match, Mount

from app.config import PACKAGE
from app.web.api.unmatched_request_routes import JSON
from app.web.pages.templating import get_environment
from app.web.routes import ROUTES
from app.web.url_paths import path_to, path_to_unversioned_static_file, register_routes
from tests.web.access.walk import filled

TEMPLATES = PACKAGE / "templates"
PATTERNS = {route.name: route.path for route in ROUTES}
OURS = "|".join(sorted({re.escape(path.split("/")[1]) for path in PATTERNS.values() if path != "/"}))
BY_HAND = re.compile(rf"/(?:(?:{OURS})(?:[/?#].*)?)?")
LEADING = r"(?:href|src|action|formaction|content|hx-[\w:-]+|data-\w+)"
MATCHED = ("api/api_route.py", "api/unmatched_request_routes.py", "api/openapi.py", "access/cors.py")
"""Say which addresses a request may have come to, and name none to go to."""


def called(tree):
    """The names in a template, with what each is given; None where a loop names them."""
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "path_to":
            name = call.args[0].value if isinstance(call.args[0], nodes.Const) else None
            yield name, {one.key for one in call.kwargs}


def trees():
    return {file.relative_to(TEMPLATES): get_environment().parse(file.read_text()) for file in TEMPLATES.rglob("*.*ml")}


def test_every_name_in_a_template_is_a_route_s_and_has_all_of_its_parts():
    used = [(str(file), *one) for file, tree in trees().items() for one in called(tree)]
    wrong = [one for one in used if one[1] and set(re.findall(r"{(\w+)", PATTERNS.get(one[1], "{?"))) != one[2]]
    assert wrong == []
    assert [file for file, name, _ in used if name is None] == ["base.html"]
    assert len(used) > 100


def by_hand(tree):
    texts = [
        text for data in tree.find_all(nodes.TemplateData) for text in re.findall(rf'\b{LEADING}="([^"]*)', data.data)
    ]
    texts += [one.value for one in tree.find_all(nodes.Const) if isinstance(one.value, str)]
    return [text for text in texts if BY_HAND.fullmatch(text)]


def test_no_template_spells_an_address_of_ours():
    assert {str(file): by_hand(tree) for file, tree in trees().items() if by_hand(tree)} == {}


@pytest.mark.parametrize(
    "markup",
    ['<a href="/runs/{{ run }}">', '<form action="/">', '{% set to = "/fleet/" ~ row %}', '<i hx-get="/machine?x">'],
)
def test_an_address_spelled_by_hand_would_be_found(markup):
    assert by_hand(get_environment().parse(markup))


def spelled(module):
    """Strings that begin as an address of ours does, but for where a route says what it is."""
    own = {
        id(one)
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in REGISTERED
        for one in ast.walk(next(iter(call.args), call))
    }
    texts = [one for one in ast.walk(module) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return [one.value for one in texts if id(one) not in own and BY_HAND.fullmatch(one.value) and one.value != "/"]


REGISTERED = ("get", "post", "put", "patch", "delete", "add_api_route", "Route", "Mount")


def test_no_code_of_the_web_room_spells_one():
    files = [file for file in (PACKAGE / "web").rglob("*.py") if not str(file).endswith(MATCHED)]
    found = {str(file): spelled(ast.parse(file.read_text())) for file in files}
    assert {file: texts for file, texts in found.items() if texts} == {}
    assert spelled(ast.parse('to = f"/runs/{run}"')) == ["/runs/"]


TAG = re.compile(rf"<(\w+)([^<>]*?{LEADING}=\"[^<>]*)>", re.DOTALL)
PLACE = re.compile(rf'{LEADING}="(/[^"?#]*)')
NAMED = re.compile(r'path_to\("(\w+)"')


def asked():
    """Each address in a template's markup, with the method of its link or form."""
    for file in sorted(TEMPLATES.rglob("*.html")):
        text = re.sub(r"\{\{(.*?)\}\}", _filled, file.read_text(), flags=re.DOTALL)
        for _, rest in TAG.findall(re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL)):
            method = "POST" if 'method="post"' in rest or "hx-post" in rest else "GET"
            yield from ((file.name, method, place) for place in PLACE.findall(rest))


def _filled(expression):
    if name := NAMED.search(expression.group(1)):
        return filled(PATTERNS[name.group(1)])
    file = re.search(r'static\("([^"]*)"', expression.group(1))
    return f"/static/{file.group(1)}" if file else "x"


def test_every_address_is_asked_for_by_a_method_that_it_takes():
    found = list(asked())
    assert [one for one in found if not _leads(*one[1:])] == []
    assert len(found) > 130


def test_an_address_that_leads_nowhere_would_be_found():
    assert _leads("POST", "/runs/x/ask")
    assert not _leads("GET", "/runs/x/ask")
    assert not _leads("GET", "/rums")
    assert not _leads("GET", "/static/none.css")


def _leads(method, path):
    if path.startswith("/static/"):
        return (PACKAGE / path.removeprefix("/")).is_file()
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    return any(route.matches(scope)[0] is Match.FULL for route in ROUTES)


def test_a_part_is_quoted_and_none_may_be_missing_or_unknown():
    assert path_to("run_item", run="r1", rule="a b/ü?") == "/runs/r1/items/a%20b%2F%C3%BC%3F"
    assert path_to_unversioned_static_file("vendor/htmx/htmx.min.js") == "/static/vendor/htmx/htmx.min.js"
    for parts in ({}, {"run": "r1", "rule": "x"}, {"rule": "x"}):
        with pytest.raises(TypeError, match=r"/runs/\{run\} takes \['run'\]"):
            path_to("run", **parts)
    with pytest.raises(KeyError):
        path_to("rum")


def test_two_addresses_share_no_name():
    with pytest.raises(ValueError, match=r"two addresses are called 'runs': /elsewhere/\{path\} is the second"):
        register_routes([Mount("/elsewhere", routes=[], name="runs")])
    assert path_to("runs") == "/runs"
    assert all(BY_HAND.fullmatch(path.removesuffix("{rest:path}").rstrip("/")) for path in JSON)
