"""What a browser is shown where there is no page, or where a form was refused; other clients get it as JSON."""

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler, request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.errors import BadInput, NotTaken
from app.store.db import AWAY, why
from app.web.pages.again import FormAgain, form_again
from app.web.pages.missing import NoSuchRun
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

NOWHERE = "Not Found"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
STATUS = {"not-found": 404, "not-waiting": 409, "run-ended": 409, "wrong-state": 409, "exists": 409, "too-many": 409}
"""As the API answers it; anything else that is not taken is 422."""


def install(application: FastAPI) -> None:
    application.add_exception_handler(HTTPException, _refused)
    application.add_exception_handler(BadInput, _not_taken)
    application.add_exception_handler(RequestValidationError, _unreadable)
    application.add_exception_handler(DataError, _untaken)
    application.add_exception_handler(NoSuchRun, _no_such_run)
    for away in AWAY:
        application.add_exception_handler(away, _away)


async def _refused(request: Request, exc: Exception) -> Response:
    why = cast("HTTPException", exc)
    if not _in_browser(request):
        return await http_exception_handler(request, why)
    said = why.detail if why.detail != NOWHERE else f"There is nothing at {request.url.path[:100]!a}."
    return refusal(f"{said[:1].upper()}{said[1:]}", why.status_code)


async def _no_such_run(_: Request, exc: Exception) -> Response:
    return cast("NoSuchRun", exc).page


async def _not_taken(request: Request, exc: Exception) -> Response:
    wrong = cast("BadInput", exc)
    status = STATUS.get(wrong.kind, 422) if isinstance(wrong, NotTaken) else 422
    if not _in_browser(request):
        return await http_exception_handler(request, HTTPException(status, wrong.sentence))
    return refusal(wrong.sentence, status, await _again(request, wrong.field if isinstance(wrong, NotTaken) else ""))


async def _unreadable(request: Request, exc: Exception) -> Response:
    why = cast("RequestValidationError", exc)
    if not _in_browser(request):
        return await request_validation_exception_handler(request, why)
    names = list(dict.fromkeys(str(fault["loc"][-1]) for fault in why.errors()))
    again = await _again(request, names[0])
    rest = "Give it another value." if again else "Go back, and give it another value."
    return refusal(f"This cannot be read: {', '.join(names)}. {rest}", 422, again)


async def _untaken(_: Request, exc: Exception) -> Response:
    return refusal(f"The database does not take this: {why(exc)}. Go back, and look for a NUL or a huge number.", 422)


async def _away(_: Request, exc: Exception) -> Response:
    return refusal(f"The database does not answer: {why(exc)}. Try again in a moment.", 503)


def _in_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _again(request: Request, wrong: str) -> FormAgain | None:
    """The form that came with the request; Starlette has read it, and keeps it with the request."""
    if request.method != "POST" or not request.headers.get("content-type", "").startswith(FORMS):
        return None
    typed = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    return form_again(request.url.path, typed, wrong)


def refusal(said: str, status: int, again: FormAgain | None = None) -> Response:
    nonce = new_nonce()
    return page(rendered("refused.html", nonce=nonce, here="", said=said, again=again), nonce, status)
