"""Cross-origin access to the API from browsers: off unless TEMPER_CORS_ORIGINS lists origins."""

import re

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import BadInput

ANY = "*"
PATHS = ("/api/", "/openapi.json")
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_SENT = ("Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "If-Range", "Last-Event-ID", "Range")
_READ = ("Content-Range", "Deprecation", "ETag", "Location", "Retry-After")


def parse_origins(text: str) -> frozenset[str]:
    found = frozenset(one.strip().rstrip("/").lower() for one in text.split(",") if one.strip())
    for one in found:
        if one != ANY and not _ORIGIN.fullmatch(one):
            raise BadInput(
                f"TEMPER_CORS_ORIGINS contains {one[:60]!a}, which is not an origin. Give origins such as "
                "https://portal.example, separated by commas, or * for all."
            )
    return found


class ApiCors:
    """CORS middleware for the API paths. Without credentials: other sites must send a token, whatever the origin."""

    def __init__(self, app: ASGIApp, allowed: frozenset[str]) -> None:
        self._app = app
        methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
        self._open = CORSMiddleware(
            app, allow_origins=allowed, allow_methods=methods, allow_headers=_SENT, expose_headers=_READ
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shared = scope["type"] == "http" and scope["path"].startswith(PATHS)
        await (self._open if shared else self._app)(scope, receive, send)


def is_cross_origin_write_allowed_by_token_or_demo(
    headers: Headers, path: str, allowed_origins: frozenset[str], *, demo: bool
) -> bool:
    """Return True if a cross-origin write is allowed: with a token or, in demo mode, from a listed origin."""
    origin = headers.get("origin", "").lower()
    if not path.startswith(PATHS) or not (origin in allowed_origins or ANY in allowed_origins):
        return False
    by_token = headers.get("authorization", "").lower().startswith("bearer ")
    return by_token or (demo and origin in allowed_origins)
