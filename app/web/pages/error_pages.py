"""Error responses: a page for browsers, and a problem document like the API's for other clients."""

from http import HTTPStatus
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.errors import BadInput, Rejected
from app.store.db import DATABASE_UNAVAILABLE, describe_database_error
from app.web.addresses import path_to
from app.web.pages.rejected_form import RejectedForm, redisplay_form
from app.web.pages.run_lookup import RunNotFound
from app.web.pages.templating import render_page

STATUS_SENTENCES = {404: "Page not found: {}.", 405: "The address {} does not allow this method."}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
STATUS = {"not-found": 404, "not-waiting": 409, "run-ended": 409, "wrong-state": 409, "exists": 409, "too-many": 409}
"""Status by kind of rejection, as in the API; any other kind is 422."""


def install_error_handlers(application: FastAPI) -> None:
    application.add_exception_handler(HTTPException, _handle_http_error)
    application.add_exception_handler(BadInput, _handle_bad_input)
    application.add_exception_handler(RequestValidationError, _handle_validation_error)
    application.add_exception_handler(DataError, _handle_data_error)
    application.add_exception_handler(RunNotFound, _handle_missing_run)
    for away in DATABASE_UNAVAILABLE:
        application.add_exception_handler(away, _handle_database_away)


async def _handle_http_error(request: Request, exc: Exception) -> Response:
    why = cast("HTTPException", exc)
    said = why.detail
    if said == HTTPStatus(why.status_code).phrase:
        said = STATUS_SENTENCES.get(why.status_code, f"{said}: {{}}.").format(f"{request.url.path[:100]!a}")
    answer = _build_error_response(request, f"{said[:1].upper()}{said[1:]}", why.status_code)
    answer.headers.update(why.headers or {})
    return answer


async def _handle_missing_run(_: Request, exc: Exception) -> Response:
    return cast("RunNotFound", exc).page


async def _handle_bad_input(request: Request, exc: Exception) -> Response:
    wrong = cast("BadInput", exc)
    if not isinstance(wrong, Rejected):
        return _build_error_response(request, wrong.sentence, 422, await _restore_form(request, ""))
    again = await _restore_form(request, wrong.field)
    return _build_error_response(request, wrong.sentence, STATUS.get(wrong.kind, 422), again, kind=wrong.kind)


async def _handle_validation_error(request: Request, exc: Exception) -> Response:
    why = cast("RequestValidationError", exc)
    names = list(dict.fromkeys(str(fault["loc"][-1]) for fault in why.errors()))
    again = await _restore_form(request, names[0])
    rest = "Enter another value." if again or not _accepts_html(request) else "Go back and enter another value."
    return _build_error_response(request, f"Invalid value: {', '.join(names)}. {rest}", 422, again)


async def _handle_data_error(request: Request, exc: Exception) -> Response:
    said = (
        f"The database rejected this value: {describe_database_error(exc)}. "
        "Go back and check for a NUL character or a very large number."
    )
    return _build_error_response(request, said, 422)


async def _handle_database_away(request: Request, exc: Exception) -> Response:
    return _build_error_response(
        request, f"The database does not respond: {describe_database_error(exc)}. Try again in a moment.", 503
    )


def _build_error_response(
    request: Request, said: str, status: int, again: RejectedForm | None = None, kind: str = "invalid"
) -> Response:
    """Return an error page for a browser, else an RFC 9457 problem document."""
    known = kind if status == STATUS.get(kind, 422) else ""
    request.state.kind = known
    if _accepts_html(request):
        return render_error_page(said, status, again)
    address = path_to("explain", kind=known) if known else "about:blank"
    body = {"type": address, "title": HTTPStatus(status).phrase, "status": status, "detail": said}
    return JSONResponse(body, status, media_type="application/problem+json")


def _accepts_html(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _restore_form(request: Request, wrong: str) -> RejectedForm | None:
    """Return the submitted form for another try, or None. Starlette has cached the form on the request."""
    if request.method != "POST" or not request.headers.get("content-type", "").startswith(FORMS):
        return None
    typed = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    return redisplay_form(request.url.path, typed, wrong)


def render_error_page(said: str, status: int, again: RejectedForm | None = None) -> Response:
    return render_page("refused.html", here="", said=said, again=again, status=status)
