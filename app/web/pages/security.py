"""Headers that let a page run only what it brought itself, and forms that only its own pages may send."""

import secrets

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse

POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def page(html: str, nonce: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(
        html,
        status_code=status,
        headers={
            "content-security-policy": POLICY.format(nonce=nonce),
            "referrer-policy": "same-origin",
            "x-content-type-options": "nosniff",
            "cache-control": "no-store",
        },
    )


def from_here(request: Request) -> None:
    """A form counts only when one of our own pages sent it."""
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise HTTPException(403, "this form was sent by another site: open the page here and send it again")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        raise HTTPException(403, "this form was sent from another address: open the page here and send it again")
