"""The server's log: what clients can provoke is logged once a minute with a count, so that no stranger fills it."""

import logging
import re
import time
from collections.abc import Callable

from starlette.requests import HTTPConnection
from starlette.types import Scope

from app.people.rights import Person
from app.text.clean import clean_text
from app.web.api.problem import KINDS
from app.web.url_paths import path_to

log = logging.getLogger(__name__)

WITHIN = 60.0
MOST = 100
_BY_STATUS = {kind.status: name for name, kind in reversed([*KINDS.items()])}
"""The first kind of problem of each status: where an answer is no problem of the API's."""


class RepetitionCounter:
    """Lets each repeated record through once a minute, with its count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, tuple[float, int]] = {}

    def count(self, key: str) -> int:
        """Return how often the record came since it was last logged, or 0 if it is not to be logged now."""
        if key not in self._told and len(self._told) >= MOST:
            self._told.clear()
        at, kept_back = self._told.get(key, (float("-inf"), 0))
        now = self._clock()
        if now - at < WITHIN:
            self._told[key] = at, kept_back + 1
            return 0
        self._told[key] = now, 0
        return kept_back + 1


class RepeatedLogFilter(logging.Filter):
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seldom = RepetitionCounter(clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Compare records by the first line of the message; later lines hold the socket and the address."""
        many = self._seldom.count(str(record.msg).partition("\n")[0])
        if many > 1:
            record.msg = f"{record.msg} (and {many - 1} more since it was last logged)"
        return many > 0


class RequestLog:
    def __init__(self) -> None:
        self._seldom = RepetitionCounter()

    def log_failed_answer(self, scope: Scope, person: Person | None, status: int) -> None:
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
            "path": hide_secret_of_shared_link(clean_text(scope["path"], 300)),
            "source": clean_text(source.host, 64) if source else None,
            "who": person.name if person else None,
        }
        if status >= 500:
            log.log(logging.ERROR if status == 500 else logging.WARNING, "request failed", extra=fields)
        elif many := self._seldom.count(kind):
            log.info("request refused", extra={**fields, "many": many})


def hide_secret_of_shared_link(path: str) -> str:
    """A shared link's secret is the rest of its address, however that is spelled."""
    shared = path_to("share", secret="").strip("/")
    return re.sub(rf"(?i)\b({shared})\W.*", r"\1/…", path)
