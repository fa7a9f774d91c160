"""Addresses under /api that lead nowhere, and methods that an address does not take."""

from fastapi import APIRouter, Request, Response
from starlette.routing import Match

from app.api.problem import Problem

router = APIRouter(include_in_schema=False)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY")


@router.api_route("/api/{rest:path}", methods=list(METHODS))
async def nowhere(request: Request) -> Response:
    taken = sorted({method for method in METHODS if _takes(request, method)})
    if taken:
        allow = {"allow": ", ".join(taken)}
        said = f"This address does not take {request.method[:20]}: it takes {allow['allow']}."
        return Problem("method-not-allowed", said, headers=allow).response()
    return Problem("not-found", f"There is nothing at {request.url.path[:100]}: /openapi.json lists what there is.").response()


def _takes(request: Request, method: str) -> bool:
    scope = dict(request.scope, method=method)
    return any(
        route.matches(scope)[0] is Match.FULL and getattr(route, "include_in_schema", True)
        for route in request.app.routes
    )
