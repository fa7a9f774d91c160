"""Nobody without the right reaches any route, however its address is spelled."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.routing import BaseRoute

from app.people.rights import RIGHTS, Person, is_admitted
from app.web.access.right_check import guard_routes
from tests.web.access.walk import METHODS, filled, forgotten, lines, methods, name, needs

TABLE = Path(__file__).parent / "rights.txt"
REFUSED = (401, 403)
BY_THEMSELVES = (
    "/",
    "/api/docs",
    "/api/docs/{group}",
    "/api/v1",
    "/api/v1/me",
    "/api/v1/runs",
    "/api/v1/samples",
    "/api/{rest:path}",
    "/compare",
    "/find",
    "/help",
    "/help/{document:path}",
    "/machine",
    "/metrics",
    "/openapi.json",
    "/runs",
    "/sign-out",
    "/{rest:path}",
)
"""Open to links without a run in their address: each looks for itself which runs it shows, or shows none."""
COMERS = [None, *(Person(right, right, "token") for right in RIGHTS), Person("guest", "viewer", "link", "", ("x",))]


def test_every_address_and_its_right_is_in_the_table(served):
    """A new address shows up here, so that somebody decides who may use it: see table.py beside this file."""
    assert TABLE.read_text().splitlines() == lines(served)


def test_every_route_says_who_it_is_for(served):
    assert [route.path for route in served if forgotten(route)] == []
    links = {route.path for route in served if needs(route).links and "{run}" not in route.path}
    assert sorted(links) == sorted(BY_THEMSELVES)


def test_a_route_that_says_nothing_is_for_admins(routes):
    [first, *_] = [route for route in routes if route.path == "/api/v1/rules"]
    assert needs(first).right == "viewer"

    def unsaid():
        return None

    first.endpoint = unsaid
    guard_routes(ours := [first])
    assert needs(ours[0]).right == "admin"


def test_what_cannot_be_guarded_is_not_served():
    with pytest.raises(TypeError, match="no route that can be guarded"):
        guard_routes([BaseRoute()])


BEHIND = [
    "%0A",
    "%0D%0A",
    "%00",
    "/",
    "//",
    "/.",
    "/..",
    "%2F",
    "%20",
    ";",
    ";x=1",
    ".json",
    "%3F",
    "#",
    "%23",
    "%E2%80%A8",
    "%C0%AF",
    "%FF",
]
BEFORE = ["/", "/.", "/%2e", "/x/..", "/%2e%2e", "/%2F", "/static/..", "/static/%2e%2e", "/static//", "/healthz/.."]
WITHIN = {
    "/": ("//", "%2F", "%252F", "/./", "\\"),
    "e": ("%65", "%2565", "%EF%BD%85"),  # the last is a fullwidth one
    "i": ("%C4%B1",),  # dotless
    "s": ("%C5%BF",),  # long
}


def spellings(path):
    """As somebody sends them who looks for a gap between two readings of the same address."""
    yield path
    yield from (path + after for after in BEHIND)
    yield from (before + path for before in BEFORE)
    yield from (path.replace(one, other) for one, others in WITHIN.items() for other in others)
    yield path.upper()
    yield path.title()


@pytest.mark.timeout(600)
async def test_no_spelling_of_any_address_reaches_what_its_sender_may_not_have(routes, knock_raw):
    """Every route by every method, every right, every spelling: what answers is what the sender may have."""
    needed = {name(route): needs(route) for route in routes}
    asked = reached = 0
    for path in sorted({filled(route.path) for route in routes}):
        for method in METHODS if path == "/api/v1/people" else ("GET", "POST"):
            for read in dict.fromkeys(map(unquote, spellings(path))):
                for comer in COMERS:
                    status, served = await knock_raw(method, read, comer)
                    asked += 1
                    if status == 204:
                        reached += 1
                        assert is_admitted(needed[served], comer, "x"), (method, read, comer, served)
                    else:
                        assert status in (*REFUSED, 404), (method, read, status)
    assert asked > 30_000
    assert reached > 5_000


async def test_whoever_lacks_the_right_is_refused_and_whoever_has_it_is_not(routes, knock):
    for route in routes:
        for method in methods(route):
            if method == "*":
                continue
            path, need = filled(route.path), needs(route).right
            path += "/x" if path == "/static" else ""
            for right in (None, *RIGHTS):
                answer = await knock(method, path, right)
                may = need is None or (right and RIGHTS.index(right) >= RIGHTS.index(need))
                assert (answer.status_code == 204) == bool(may), (method, path, right)


async def test_a_newline_at_the_end_of_an_address_opens_nothing(knock):
    """Starlette's patterns end before it."""
    for path in ("/api/v1/people%0A", "/api/v1/audit%0A", "/people%0A", "/api/v1/tokens%0A", "/api/v1/webhooks%0A"):
        for kind in ("token", "session", "link"):
            assert (await knock("GET", path, "viewer", kind)).status_code in (*REFUSED, 404), path


async def test_a_link_opens_the_run_it_names_and_no_other(knock):
    for path in ("/runs/x", "/runs/x/page", "/runs/x/items/r", "/api/v1/runs/x/stream", "/api/v1/runs/x/report.html"):
        assert (await knock("GET", path, "viewer", "link")).status_code == 204, path
        other = path.replace("/x", "/other", 1)
        assert (await knock("GET", other, "viewer", "link")).status_code == 403, other
        assert (await knock("GET", other, "viewer", "session")).status_code == 204, other
    for path in ("/hosts", "/ops", "/lineup", "/api/v1/approvals", "/api/v1/hosts", "/api/v1/lessons", "/people"):
        assert (await knock("GET", path, "viewer", "link")).status_code == 403, path
