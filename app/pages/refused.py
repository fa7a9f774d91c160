"""What a browser is shown where there is no page, or where a form was refused; other clients get it as JSON."""

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.pages.security import new_nonce, page
from app.pages.templating import rendered

NOWHERE = "Not Found"


def install(application: FastAPI) -> None:
    application.add_exception_handler(HTTPException, _refused)


async def _refused(request: Request, exc: Exception) -> Response:
    why = cast("HTTPException", exc)
    if "text/html" not in request.headers.get("accept", ""):
        return await http_exception_handler(request, why)
    said = why.detail if why.detail != NOWHERE else f"There is nothing at {request.url.path[:100]!a}."
    return refusal(said, why.status_code)


def refusal(said: str, status: int) -> Response:
    nonce = new_nonce()
    return page(rendered("refused.html", nonce=nonce, here="", said=said), nonce, status)
