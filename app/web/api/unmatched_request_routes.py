"""Fallback routes: unknown paths, unsupported methods, and HEAD and OPTIONS of every path."""

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Message, Receive, Scope, Send

from app.people.rights import everybody, guests
from app.web.api.problem import Problem
from app.web.conditional_responses import ConditionalResponses

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
OPEN = ("/healthz", "/readyz", "/problems/{kind}")
JSON = (*OPEN, "/api/{rest:path}", "/metrics", "/openapi.json")
"""Paths where errors are JSON problems; elsewhere browsers get a page."""
_ROUTED = ("endpoint", "path_params", "route", "fastapi")
"""Scope keys set by routing, removed before routing again."""


class FallbackEndpoint:
    """Answers every method: an endpoint that is no function takes all of them. It reveals only the methods of a path;
    the GET behind HEAD passes that route's own guard."""

    def __init__(self, *, page: bool = False) -> None:
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        taken = [method for method in METHODS if _accepts_method(request, method, request.scope["path"])]
        if request.method == "HEAD" and "GET" in taken:
            await _answer_head(request, send)
        elif request.method == "OPTIONS" and taken:
            await Response(status_code=204, headers={"allow": _format_allow(taken)})(scope, receive, send)
        elif self._page:
            raise HTTPException(405, headers={"allow": _format_allow(taken)}) if taken else HTTPException(404)
        else:
            await _create_problem_response(request, taken)(scope, receive, send)


def install_fallbacks(application: FastAPI) -> None:
    """Add the fallbacks after all other routes, so that every request matches a route with a guard."""
    for path in JSON:
        who = everybody if path in OPEN else guests
        application.router.routes.append(Route(path, who(FallbackEndpoint()), include_in_schema=False))
    application.router.routes.append(
        Route("/{rest:path}", guests(FallbackEndpoint(page=True)), include_in_schema=False)
    )


async def _answer_head(request: Request, send: Send) -> None:
    """Answer HEAD: run the GET with a client that disconnects once the response starts, which also ends streams."""

    async def send_start(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)

    again = {name: value for name, value in request.scope.items() if name not in _ROUTED}
    whole = [(name, value) for name, value in again["headers"] if name != b"range"]  # Range applies to GET only
    await ConditionalResponses(request.app.router)(
        {**again, "method": "GET", "headers": whole}, _receive_disconnect, send_start
    )
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _receive_disconnect() -> Message:
    return {"type": "http.disconnect"}


def _create_problem_response(request: Request, accepted_methods: list[str]) -> Response:
    path = request.scope["path"]
    if accepted_methods:
        allow = _format_allow(accepted_methods)
        said = f"This address does not accept {request.method[:20]!a}. It accepts {allow}."
        return Problem("method-not-allowed", said, headers={"allow": allow}).to_response()
    said = f"Nothing found at {path[:100]!a}. /openapi.json lists all addresses."
    if path.endswith("/") and any(_accepts_method(request, method, path.rstrip("/")) for method in METHODS):
        said = f"Nothing found at {path[:100]!a}. Remove the slash at the end."
    return Problem("not-found", said).to_response()


def _format_allow(accepted_methods: list[str]) -> str:
    return ", ".join(sorted([*accepted_methods, "OPTIONS", *(["HEAD"] if "GET" in accepted_methods else [])]))


def _accepts_method(request: Request, method: str, path: str) -> bool:
    scope = {**request.scope, "method": method, "path": path}
    routes = [
        route for route in request.app.routes if not isinstance(getattr(route, "endpoint", None), FallbackEndpoint)
    ]
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
