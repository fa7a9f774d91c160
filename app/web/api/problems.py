"""The page that a problem's `type` links to."""

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from app.people.rights import everybody
from app.web.api.problem import KINDS, Problem

router = APIRouter(include_in_schema=False)


@router.get("/problems/{kind}", name="explain")
@everybody
async def explain_problem(kind: str) -> Response:
    found = KINDS.get(kind)
    if found is None:
        return Problem("not-found", f"There is no type of problem {kind[:40]!a}; docs/api.md lists them.").to_response()
    return PlainTextResponse(f"{found.title} ({found.status})\n\n{found.explained}\n")
