"""Sign-in and sign-out in a browser, and shared links."""

import math
import time
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.people.rights import WHO, everybody, guests
from app.store import people
from app.store.models import CredentialRow
from app.text.clean import clean
from app.web.access.credentials import COOKIE, cookie
from app.web.access.oidc import Oidc
from app.web.access.password_check import (
    BROWSER_SECONDS,
    SESSION_SECONDS,
    LetIn,
    PasswordCheck,
    SignInTry,
    TryLater,
    Wrong,
)
from app.web.addresses import path_to
from app.web.deps import TheSession
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

BROWSER = "temper-browser"
"""Grants nothing. Marks a browser that signed in before, so that others' attempts do not count against it."""

router = APIRouter(include_in_schema=False)


@router.get("/sign-in", name="sign_in")
@everybody
async def form(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    return form_again(request, next, "", 200)


@router.post("/sign-in")
@everybody
async def sign_in(
    request: Request,
    name: Annotated[str, Form(max_length=64)],
    password: Annotated[str, Form(max_length=200)],
    next: Annotated[str, Form(max_length=500)] = "/",  # noqa: A002
) -> Response:
    passwords: PasswordCheck = request.app.state.passwords
    source = request.client.host if request.client else ""
    match await passwords.tried(SignInTry(name, password, source, cookie(request.headers, BROWSER))):
        case TryLater(seconds):
            answer = form_again(request, next, f"Too many tries: wait {math.ceil(seconds)} s.", 429)
            answer.headers["retry-after"] = str(math.ceil(seconds))
            return answer
        case Wrong():
            return form_again(request, next, "This name and password do not belong together.", 403)
        case LetIn(secret, browser):
            answer = let_in(request, inside(next), secret, SESSION_SECONDS)
            if browser:
                _keep(request, answer, BROWSER, browser, BROWSER_SECONDS, path=path_to("sign_in"))
            return answer


@router.post("/sign-out")
@guests
def sign_out(session: TheSession) -> Response:
    person = WHO.get()
    if person and person.credential and (row := session.get(CredentialRow, person.credential)):
        people.end(session, row)
    answer = RedirectResponse(path_to("sign_in"), status_code=303)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/share/{secret}", name="share")
@everybody
def shared(request: Request, session: TheSession, secret: str) -> Response:
    """Sign in by a shared link: it grants read access until it expires."""
    row = people.credential(session, secret)
    if row is None or row.kind != "link" or row.ended_at is not None or row.expires_at <= time.time():
        return form_again(request, "/", "This link has expired, or never was: ask for a new one.", 403)
    to = path_to("run", run=row.run) if row.run else path_to("home")
    return let_in(request, to, secret, row.expires_at - time.time())


def let_in(request: Request, to: str, secret: str, seconds: float) -> Response:
    answer = RedirectResponse(to, status_code=303)
    _keep(request, answer, COOKIE, secret, seconds)
    answer.headers["referrer-policy"] = "no-referrer"
    return answer


def _keep(request: Request, answer: Response, name: str, secret: str, seconds: float, path: str = "/") -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, secret, max_age=int(seconds), path=path, httponly=True, samesite="lax", secure=secure)


def inside(path: str) -> str:
    """Return `path` if it is a path on this site, else "/"; `//host` would lead elsewhere."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and clean(path, 500) == path
    return path if plain else "/"


def form_again(request: Request, to: str, said: str, status: int) -> Response:
    nonce = new_nonce()
    oidc: Oidc | None = request.app.state.oidc
    provider = oidc.shown if oidc else ""
    context = {"next": inside(to), "said": said, "provider": provider}
    return page(rendered("sign_in.html", nonce=nonce, here="", **context), nonce, status)
