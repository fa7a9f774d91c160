"""HTML responses with a content security policy that allows only the page's own scripts."""

import secrets

from starlette.responses import HTMLResponse

POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def create_page(html: str, nonce: str, status: int = 200) -> HTMLResponse:
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
