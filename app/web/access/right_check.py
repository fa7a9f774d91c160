"""Check the right of the person inside each route, after routing, so the check concerns the route that serves."""

from collections.abc import MutableSequence
from copy import copy
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.people.rights import CLOSED, AccessNeeds, Person, find_access_needs, has_right, is_admitted
from app.web.access.access_rechecks import KEY, RequestContext
from app.web.api.api_route import PREFIX
from app.web.api.problem import Problem
from app.web.pages.error_pages import render_error_page
from app.web.url_paths import path_to


class Guard:
    def __init__(self, app: ASGIApp, needs: AccessNeeds) -> None:
        self.app, self.needs = app, needs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit: RequestContext = scope[KEY]  # fails for a request that bypassed the gate
        visit.needs, visit.run = self.needs, scope["path_params"].get("run")
        if is_admitted(self.needs, visit.person, visit.run):
            return await self.app(scope, receive, send)
        visit.refused = True
        return await _refuse_person(scope, visit.person, self.needs)(scope, receive, send)


def guard_routes(routes: MutableSequence[BaseRoute]) -> None:
    """Wrap every route with its guard, in place. Raise TypeError for a route that cannot be guarded."""
    routes[:] = [_guard_route(route) for route in routes]


def _guard_route(route: BaseRoute) -> BaseRoute:
    if not isinstance(route, Route | Mount):
        raise TypeError(f"{route} is no route that can be guarded")
    own = copy(route)  # module routes are shared by all applications in a process
    own.app = Guard(route.app, find_access_needs(find_handler(route)) or CLOSED)
    return own


def find_handler(route: Route | Mount) -> object:
    """Return the endpoint or app that declares the right it needs."""
    return route.endpoint if isinstance(route, Route) else route.app


def create_refusal_response(headers: Headers, problem: Problem) -> Response:
    if "text/html" in headers.get("accept", ""):
        return render_error_page(str(problem), problem.body.status)
    return problem.to_response()


def _refuse_person(scope: Scope, person: Person | None, needs: AccessNeeds) -> Response:
    headers = Headers(scope=scope)
    if person is None:
        return _request_sign_in(scope, headers)
    if needs.right is None or has_right(person.right, needs.right):
        runs = ", ".join(person.runs or ())
        return create_refusal_response(headers, Problem("forbidden", f"This link gives access only to run {runs}."))
    said = f"This requires the right {needs.right}, but {person.name} has the right {person.right}. Ask an admin."
    return create_refusal_response(headers, Problem("forbidden", said))


def _request_sign_in(scope: Scope, headers: Headers) -> Response:
    browsing = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    if browsing and not scope["path"].startswith(PREFIX):
        return RedirectResponse(f"{path_to('sign_in')}?next={quote(scope['path'], safe='/')}", status_code=303)
    said = "Sign in, or send a token: Authorization: Bearer temper_…"
    return Problem("unauthorized", said, headers={"www-authenticate": "Bearer"}).to_response()
