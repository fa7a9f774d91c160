"""Check the right of the person inside each route, after routing, so the check concerns the route that serves."""

from collections.abc import MutableSequence
from copy import copy
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.people.rights import CLOSED, Needs, Person, admits, may, said_needs
from app.web.access.visit import visit_of
from app.web.addresses import path_to
from app.web.api.problem import Problem
from app.web.api.route import PREFIX
from app.web.pages.refused import refusal


class Guard:
    def __init__(self, app: ASGIApp, needs: Needs) -> None:
        self.app, self.needs = app, needs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit = visit_of(scope)  # fails for a request that bypassed the gate
        visit.needs, visit.run = self.needs, scope["path_params"].get("run")
        if admits(self.needs, visit.person, visit.run):
            return await self.app(scope, receive, send)
        visit.refused = True
        return await _refused(scope, visit.person, self.needs)(scope, receive, send)


def guard(routes: MutableSequence[BaseRoute]) -> None:
    """Wrap every route with its guard, in place. Raise TypeError for a route that cannot be guarded."""
    routes[:] = [_guarded(route) for route in routes]


def _guarded(route: BaseRoute) -> BaseRoute:
    if not isinstance(route, Route | Mount):
        raise TypeError(f"{route} is no route that can be guarded")
    own = copy(route)  # module routes are shared by all applications in a process
    own.app = Guard(route.app, said_needs(subject(route)) or CLOSED)
    return own


def subject(route: Route | Mount) -> object:
    """Return the endpoint or app that declares the right it needs."""
    return route.endpoint if isinstance(route, Route) else route.app


def turned_away(headers: Headers, problem: Problem) -> Response:
    if "text/html" in headers.get("accept", ""):
        return refusal(str(problem), problem.body.status)
    return problem.response()


def _refused(scope: Scope, person: Person | None, needs: Needs) -> Response:
    headers = Headers(scope=scope)
    if person is None:
        return _who_are_you(scope, headers)
    if needs.right is None or may(person.right, needs.right):
        runs = ", ".join(person.runs or ())
        return turned_away(headers, Problem("forbidden", f"This link opens run {runs} and nothing else."))
    said = f"This is for an {needs.right}, and {person.name} is a {person.right}: ask an admin."
    return turned_away(headers, Problem("forbidden", said))


def _who_are_you(scope: Scope, headers: Headers) -> Response:
    browsing = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    if browsing and not scope["path"].startswith(PREFIX):
        return RedirectResponse(f"{path_to('sign_in')}?next={quote(scope['path'], safe='/')}", status_code=303)
    said = "Sign in, or send a token: Authorization: Bearer temper_…"
    return Problem("unauthorized", said, headers={"www-authenticate": "Bearer"}).response()
