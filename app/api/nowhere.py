"""Addresses of the API that lead nowhere, and methods that an address does not take."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from app.api.problem import Problem

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
PATHS = ("/api/{rest:path}", "/healthz", "/readyz", "/metrics", "/problems/{kind}")


class Nowhere:
    """An endpoint that is no function takes every method, also those that nobody has thought of."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _answer(Request(scope))(scope, receive, send)


def install(application: FastAPI) -> None:
    """Behind all others."""
    application.router.routes.extend(Route(path, Nowhere(), include_in_schema=False) for path in PATHS)


def _answer(request: Request) -> Response:
    taken = ", ".join(method for method in METHODS if _takes(request, method))
    if taken:
        said = f"This address does not take {request.method[:20]!a}: it takes {taken}."
        return Problem("method-not-allowed", said, headers={"allow": taken}).response()
    said = f"There is nothing at {request.url.path[:100]!a}: /openapi.json lists what there is."
    return Problem("not-found", said).response()


def _takes(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    routes = [route for route in request.app.routes if not isinstance(getattr(route, "endpoint", None), Nowhere)]
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
