"""Signing in and out in a browser, and the door of a shared link."""

import time
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.access.doors import COOKIE
from app.access.oidc import Oidc
from app.access.throttle import Throttle
from app.deps import TheSession
from app.events.clean import clean
from app.pages.security import new_nonce, page
from app.pages.templating import rendered
from app.people.passwords import NOBODY, matches
from app.people.rights import WHO, everybody, guests
from app.store import people
from app.store.models import CredentialRow

SESSION_SECONDS = 12 * 3600.0

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
@everybody
def form(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    return form_again(request, next, "", 200)


@router.post("/sign-in")
@everybody
def sign_in(
    request: Request,
    session: TheSession,
    name: Annotated[str, Form(max_length=64)],
    password: Annotated[str, Form(max_length=200)],
    next: Annotated[str, Form(max_length=500)] = "/",  # noqa: A002
) -> Response:
    throttle: Throttle = request.app.state.throttle
    source = request.client.host if request.client else ""
    if wait := throttle.wait(name, source):
        return form_again(request, next, f"Too many tries: wait {wait:.0f} s.", 429)
    owner = people.person(session, name)
    if not matches(password, owner.password if owner else NOBODY) or owner is None or owner.disabled:
        throttle.failed(name, source)
        return form_again(request, next, "This name and password do not belong together.", 403)
    _, secret = people.issue(
        session, person=owner.name, right=owner.right, kind="session", label=source, seconds=SESSION_SECONDS
    )
    return let_in(request, inside(next), secret, SESSION_SECONDS)


@router.post("/sign-out")
@guests
def sign_out(session: TheSession) -> Response:
    person = WHO.get()
    if person and person.credential and (row := session.get(CredentialRow, person.credential)):
        people.end(session, row)
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/share/{secret}")
@everybody
def shared(request: Request, session: TheSession, secret: str) -> Response:
    """The link itself is the right to watch, until it expires."""
    row = people.credential(session, secret)
    if row is None or row.kind != "link" or row.ended_at is not None or row.expires_at <= time.time():
        return form_again(request, "/", "This link has expired, or never was: ask for a new one.", 403)
    return let_in(request, inside(row.label), secret, row.expires_at - time.time())


def let_in(request: Request, to: str, secret: str, seconds: float) -> Response:
    answer = RedirectResponse(to, status_code=303)
    answer.set_cookie(
        COOKIE, secret, max_age=int(seconds), httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )
    answer.headers["referrer-policy"] = "no-referrer"
    return answer


def inside(path: str) -> str:
    """Never another site: `//elsewhere` is one."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and clean(path, 500) == path
    return path if plain else "/"


def form_again(request: Request, to: str, said: str, status: int) -> Response:
    nonce = new_nonce()
    oidc: Oidc | None = request.app.state.oidc
    provider = oidc.shown if oidc else ""
    context = {"next": inside(to), "said": said, "provider": provider}
    return page(rendered("sign_in.html", nonce=nonce, here="", **context), nonce, status)
