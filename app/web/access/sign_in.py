"""Sign-in and sign-out in a browser, and shared links."""

import math
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.people.credential_expiry import BROWSER_SECONDS, SESSION_SECONDS, is_credential_valid
from app.people.rights import WHO, everybody, guests
from app.store import issued_credentials
from app.store.database_clock import database_time
from app.store.models import CredentialRow
from app.text.clean import clean_text
from app.web.access.authenticator import COOKIE, read_cookie
from app.web.access.oidc import OidcClient
from app.web.access.password_checker import PasswordChecker, RetryLater, SignInAttempt, SignInGranted, WrongPassword
from app.web.deps import TheSession
from app.web.pages.templating import render_page
from app.web.url_paths import path_to, redirect_to

BROWSER = "temper-browser"
"""Grants nothing. Marks a browser that signed in before, so that others' attempts do not count against it."""

router = APIRouter(include_in_schema=False)


@router.get("/sign-in", name="sign_in")
@everybody
async def show_sign_in_form(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    return render_sign_in_form(request, next, "", 200)


@router.post("/sign-in")
@everybody
async def sign_in(
    request: Request,
    name: Annotated[str, Form(max_length=64)],
    password: Annotated[str, Form(max_length=200)],
    next: Annotated[str, Form(max_length=500)] = "/",  # noqa: A002
) -> Response:
    passwords: PasswordChecker = request.app.state.passwords
    source = request.client.host if request.client else ""
    match await passwords.check_attempt(SignInAttempt(name, password, source, read_cookie(request.headers, BROWSER))):
        case RetryLater(seconds):
            answer = render_sign_in_form(request, next, f"Too many attempts. Wait {math.ceil(seconds)} s.", 429)
            answer.headers["retry-after"] = str(math.ceil(seconds))
            return answer
        case WrongPassword():
            return render_sign_in_form(request, next, "The name or the password is wrong.", 403)
        case SignInGranted(secret, browser):
            answer = create_signed_in_response(request, to_local_path(next), secret, SESSION_SECONDS)
            if browser:
                set_cookie(request, answer, BROWSER, browser, BROWSER_SECONDS, path=path_to("sign_in"))
            return answer


@router.post("/sign-out")
@guests
def sign_out(session: TheSession) -> Response:
    person = WHO.get()
    if person and person.credential and (row := session.get(CredentialRow, person.credential)):
        issued_credentials.end_credential(session, row)
    answer = redirect_to("sign_in")
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/share/{secret}", name="share")
@everybody
def open_shared_link(request: Request, session: TheSession, secret: str) -> Response:
    """Sign in by a shared link: it grants read access until it expires."""
    row, now = issued_credentials.find_credential_even_if_invalid(session, secret), database_time(session)
    if row is None or row.kind != "link" or not is_credential_valid(row, now):
        return render_sign_in_form(request, "/", "This link has expired or does not exist. Ask for a new one.", 403)
    to = path_to("run", run=row.run) if row.run else path_to("home")
    return create_signed_in_response(request, to, secret, row.expires_at - now)


def create_signed_in_response(request: Request, to: str, secret: str, seconds: float) -> Response:
    answer = RedirectResponse(to, status_code=303)
    set_cookie(request, answer, COOKIE, secret, seconds)
    answer.headers["referrer-policy"] = "no-referrer"
    return answer


def set_cookie(request: Request, answer: Response, name: str, secret: str, seconds: float, path: str = "/") -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, secret, max_age=int(seconds), path=path, httponly=True, samesite="lax", secure=secure)


def to_local_path(path: str) -> str:
    """Return `path` if it is a path on this site, else "/"; `//host` would lead elsewhere."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and clean_text(path, 500) == path
    return path if plain else "/"


def render_sign_in_form(request: Request, next_path: str, message: str, status: int) -> Response:
    oidc: OidcClient | None = request.app.state.oidc
    provider = oidc.host_name if oidc else ""
    return render_page("sign_in.html", status=status, next=to_local_path(next_path), said=message, provider=provider)
