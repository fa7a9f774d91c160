"""Error responses: a page for browsers, and a problem document like the API's for other clients."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from sqlmodel import Session
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.errors import BadInput, Rejected
from app.people.rights import get_visible_runs_or_none_for_all
from app.store import run_queries
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.store.models import RunRow
from app.web.pages.rejected_form import (
    RejectedForm,
    build_rejected_form_if_any_visible_field,
    build_rejected_query_form,
)
from app.web.pages.templating import render_page
from app.web.url_paths import path_to

STATUS_SENTENCES = {404: "Page not found: {}.", 405: "The address {} does not allow this method."}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
STATUS = {"not-found": 404, "not-waiting": 409, "run-ended": 409, "wrong-state": 409, "exists": 409, "too-many": 409}
"""Status by kind of rejection, as in the API; any other kind is 422."""


class RunNotFound(Exception):
    """Carries the page to answer with."""

    __match_args__ = ("page",)

    def __init__(self, page: Response) -> None:
        self.page = page


def install_error_handlers(application: FastAPI) -> None:
    for kind in (HTTPException, BadInput, RequestValidationError, DataError, RunNotFound, *DATABASE_UNAVAILABLE):
        application.add_exception_handler(kind, _answer_known_error)


async def _answer_known_error(request: Request, exc: Exception) -> Response:
    match exc:
        case RunNotFound(page):
            return page
        case HTTPException():
            return _answer_http_error(request, exc)
        case Rejected():
            status, again = STATUS.get(exc.kind, 422), await _build_rejected_form_if_any(request, exc.field)
            return _build_error_page_or_problem(request, exc.sentence, status, again, exc.kind)
        case BadInput():
            return _build_error_page_or_problem(
                request, exc.sentence, 422, await _build_rejected_form_if_any(request, "")
            )
        case RequestValidationError():
            names = list(dict.fromkeys(str(fault["loc"][-1]) for fault in exc.errors()))
            again = await _build_rejected_form_if_any(request, names[0])
            rest = "Enter another value." if again or not _accepts_html(request) else "Go back and enter another value."
            return _build_error_page_or_problem(request, f"Invalid value: {', '.join(names)}. {rest}", 422, again)
        case DataError():
            said = f"The database rejected this value: {shorten_database_error(exc)}. "
            rest = "Go back and check for a NUL character or a very large number."
            return _build_error_page_or_problem(request, said + rest, 422)
    said = f"The database does not respond: {shorten_database_error(exc)}. Try again in a moment."
    return _build_error_page_or_problem(request, said, 503)


def _answer_http_error(request: Request, exc: HTTPException) -> Response:
    said = exc.detail
    if said == HTTPStatus(exc.status_code).phrase:
        said = STATUS_SENTENCES.get(exc.status_code, f"{said}: {{}}.").format(f"{request.url.path[:100]!a}")
    answer = _build_error_page_or_problem(request, f"{said[:1].upper()}{said[1:]}", exc.status_code)
    answer.headers.update(exc.headers or {})
    return answer


def _build_error_page_or_problem(
    request: Request,
    sentence: str,
    status: int,
    rejected_form: RejectedForm | None = None,
    rejection_kind: str = "invalid",
) -> Response:
    """Return an error page for a browser, else an RFC 9457 problem document."""
    known = rejection_kind if status == STATUS.get(rejection_kind, 422) else ""
    request.state.kind = known
    if _accepts_html(request):
        return render_error_page(sentence, status, rejected_form)
    address = path_to("explain", kind=known) if known else "about:blank"
    body = {"type": address, "title": HTTPStatus(status).phrase, "status": status, "detail": sentence}
    return JSONResponse(body, status, media_type="application/problem+json")


def _accepts_html(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _build_rejected_form_if_any(request: Request, wrong_field: str) -> RejectedForm | None:
    """Return what was asked for or submitted for another try, or None. Starlette has cached the form."""
    if request.method == "GET":
        return build_rejected_query_form(request.url.path, dict(request.query_params), wrong_field)
    if request.method != "POST" or not request.headers.get("content-type", "").startswith(FORMS):
        return None
    typed = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    return build_rejected_form_if_any_visible_field(request.url.path, typed, wrong_field)


def render_error_page(sentence: str, status: int, rejected_form: RejectedForm | None = None) -> Response:
    return render_page("refused.html", here="", said=sentence, again=rejected_form, status=status)


def require_run(session: Session, run: str) -> RunRow:
    """Return the run, or raise RunNotFound with a page that lists the newest runs."""
    row = run_queries.find_run(session, run)
    if row is None:
        raise RunNotFound(render_missing_run(session, run))
    return row


def render_missing_run(session: Session, run: str) -> Response:
    newest = run_queries.list_newest_runs(session, 5, allowed_run_ids=get_visible_runs_or_none_for_all())
    return render_page("missing.html", here="", run=run, newest=newest, status=404)
