"""Error responses: a page for browsers, and a problem document like the API's for other clients."""

from http import HTTPStatus
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.errors import BadInput, NotTaken
from app.store.db import AWAY, why
from app.web.addresses import path_to
from app.web.pages.again import FormAgain, form_again
from app.web.pages.missing import NoSuchRun
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

SAID = {404: "There is nothing at {}.", 405: "The address {} does not take this method."}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
STATUS = {"not-found": 404, "not-waiting": 409, "run-ended": 409, "wrong-state": 409, "exists": 409, "too-many": 409}
"""Status by kind of rejection, as in the API; any other kind is 422."""


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
    said = why.detail
    if said == HTTPStatus(why.status_code).phrase:
        said = SAID.get(why.status_code, f"{said}: {{}}.").format(f"{request.url.path[:100]!a}")
    answer = _answer(request, f"{said[:1].upper()}{said[1:]}", why.status_code)
    answer.headers.update(why.headers or {})
    return answer


async def _no_such_run(_: Request, exc: Exception) -> Response:
    return cast("NoSuchRun", exc).page


async def _not_taken(request: Request, exc: Exception) -> Response:
    wrong = cast("BadInput", exc)
    if not isinstance(wrong, NotTaken):
        return _answer(request, wrong.sentence, 422, await _again(request, ""))
    again = await _again(request, wrong.field)
    return _answer(request, wrong.sentence, STATUS.get(wrong.kind, 422), again, kind=wrong.kind)


async def _unreadable(request: Request, exc: Exception) -> Response:
    why = cast("RequestValidationError", exc)
    names = list(dict.fromkeys(str(fault["loc"][-1]) for fault in why.errors()))
    again = await _again(request, names[0])
    rest = "Give it another value." if again or not _in_browser(request) else "Go back, and give it another value."
    return _answer(request, f"This cannot be read: {', '.join(names)}. {rest}", 422, again)


async def _untaken(request: Request, exc: Exception) -> Response:
    said = f"The database does not take this: {why(exc)}. Go back, and look for a NUL or a huge number."
    return _answer(request, said, 422)


async def _away(request: Request, exc: Exception) -> Response:
    return _answer(request, f"The database does not answer: {why(exc)}. Try again in a moment.", 503)


def _answer(
    request: Request, said: str, status: int, again: FormAgain | None = None, kind: str = "invalid"
) -> Response:
    """Return an error page for a browser, else an RFC 9457 problem document."""
    if _in_browser(request):
        return refusal(said, status, again)
    known = path_to("explain", kind=kind) if status == STATUS.get(kind, 422) else "about:blank"
    body = {"type": known, "title": HTTPStatus(status).phrase, "status": status, "detail": said}
    return JSONResponse(body, status, media_type="application/problem+json")


def _in_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _again(request: Request, wrong: str) -> FormAgain | None:
    """Return the submitted form for another try, or None. Starlette has cached the form on the request."""
    if request.method != "POST" or not request.headers.get("content-type", "").startswith(FORMS):
        return None
    typed = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    return form_again(request.url.path, typed, wrong)


def refusal(said: str, status: int, again: FormAgain | None = None) -> Response:
    nonce = new_nonce()
    return page(rendered("refused.html", nonce=nonce, here="", said=said, again=again), nonce, status)
