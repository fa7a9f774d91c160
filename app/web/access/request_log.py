"""Requests in the server's log: all that failed, and the refused ones so seldom that no stranger fills it."""

import logging
import re

from starlette.requests import HTTPConnection
from starlette.types import Scope

from app.people.rights import Person
from app.text.clean import clean_text
from app.web.access.repeated_log_filter import Seldom
from app.web.addresses import path_to
from app.web.api.problem import KINDS

log = logging.getLogger(__name__)

_BY_STATUS = {kind.status: name for name, kind in reversed([*KINDS.items()])}
"""The first kind of problem of each status: where an answer is no problem of the API's."""


class RequestLog:
    def __init__(self) -> None:
        self._seldom = Seldom()

    def log_answer(self, scope: Scope, person: Person | None, status: int) -> None:
        """Log every answer from 500 on, and of the refused ones one a minute for each kind, with how `many` there were.

        An address is logged without its query; a secret that is part of an address is left out.
        """
        if status < 400:
            return
        kind = scope.get("state", {}).get("kind") or _BY_STATUS.get(status, "other")
        source = HTTPConnection(scope).client
        fields = {
            "kind": kind,
            "status": status,
            "method": clean_text(scope["method"], 20),
            "path": _hide_secret(clean_text(scope["path"], 300)),
            "source": clean_text(source.host, 64) if source else None,
            "who": person.name if person else None,
        }
        if status >= 500:
            log.log(logging.ERROR if status == 500 else logging.WARNING, "request failed", extra=fields)
        elif many := self._seldom.count(kind):
            log.info("request refused", extra={**fields, "many": many})


def _hide_secret(path: str) -> str:
    """A shared link's secret is the rest of its address, however that is spelled."""
    shared = path_to("share", secret="").strip("/")
    return re.sub(rf"(?i)\b({shared})\W.*", r"\1/…", path)
