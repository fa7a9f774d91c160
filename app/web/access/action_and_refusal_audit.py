"""Write what people did, and refused requests, to the audit chain, and its head to a remote syslog."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from logging.handlers import SysLogHandler

from msgspec.structs import replace
from sqlalchemy import Engine

from app.errors import BadInput
from app.events.kinds import AuditedRequest
from app.events.record import Recorded
from app.store import audit
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.store.periodic_background_task_base import BackgroundTask

log = logging.getLogger(__name__)

PATIENCE, BETWEEN = 60.0, 0.5
LOOK_EVERY = 5.0
WINDOW = 60.0
MOST = 20
"""Sources counted separately; all others share one count."""
MANY = "many addresses"


@dataclass
class _RefusalCount:
    since: float
    last: AuditedRequest
    more: int = 0


class DeniedRequestCounter:
    """Counts refused requests per source, so that a flood writes one audit line a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[tuple[str, str], _RefusalCount] = {}

    def count_or_return_refusal(self, event: AuditedRequest) -> AuditedRequest | None:
        """Return the event to record at once, for the first refusal of a source; count the others and return None."""
        key = (event.who, event.source)
        if key not in self._counts and len(self._counts) >= MOST:
            event = replace(event, who="", right="", via="", source=MANY)
            key = (event.who, event.source)
        if count := self._counts.get(key):
            count.more, count.last = count.more + 1, event
            return None
        self._counts[key] = _RefusalCount(self._clock(), event)
        return event

    def collect_finished(self, *, all_of_them: bool = False) -> list[AuditedRequest]:
        """Return one summary event per source whose minute is over and that was refused again."""
        now, told = self._clock(), []
        for key, count in list(self._counts.items()):
            if now - count.since < WINDOW and not all_of_them:
                continue
            if count.more:
                told.append(replace(count.last, times=count.more))
                self._counts[key] = _RefusalCount(now, count.last)
            else:
                del self._counts[key]
        return told


class AccessLedger(BackgroundTask):
    name = "audit of refusals"

    def __init__(self, database: Engine, syslog: "AuditSyslog") -> None:
        self._database, self._syslog = database, syslog
        self._tally = DeniedRequestCounter()

    async def close(self) -> None:
        await super().close()
        await self._record_refusal_counts(all_of_them=True)

    async def record_action_or_warn(self, event: AuditedRequest, retry_seconds: float = PATIENCE) -> None:
        """Append the event to the audit chain. Retry while the database is away, then log a warning."""
        until = time.monotonic() + retry_seconds
        while True:
            try:
                return await asyncio.to_thread(self._record_event_and_send_syslog_head, event)
            except DATABASE_UNAVAILABLE as exc:
                if time.monotonic() >= until:
                    return log.warning(
                        "not on record, since %s: %s by %r", shorten_database_error(exc), event.did, event.who
                    )
            await asyncio.sleep(BETWEEN)

    async def count_or_record_refusal(self, event: AuditedRequest) -> None:
        if first := self._tally.count_or_return_refusal(event):
            await self.record_action_or_warn(first)

    async def _run_forever(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self._record_refusal_counts()

    async def _record_refusal_counts(self, *, all_of_them: bool = False) -> None:
        for event in self._tally.collect_finished(all_of_them=all_of_them):
            await self.record_action_or_warn(event, 0.0 if all_of_them else PATIENCE)

    def _record_event_and_send_syslog_head(self, event: AuditedRequest) -> None:
        self._syslog.send_seq_and_hash(audit.record_audit_event(self._database, event))


class AuditSyslog:
    """Sends each new head, so that truncation of the local chain can be detected."""

    def __init__(self, address: str) -> None:
        """`address` is HOST:PORT (UDP); an empty string disables sending."""
        self._handler = _open_udp_syslog(address) if address else None

    def send_seq_and_hash(self, line: Recorded) -> None:
        if self._handler is None:
            return
        said = f"temper audit seq={line.seq} hash={line.hash}"
        self._handler.emit(logging.LogRecord("temper.audit", logging.INFO, "", 0, said, None, None))

    def close(self) -> None:
        if self._handler:
            self._handler.close()


def _open_udp_syslog(host_and_port: str) -> SysLogHandler:
    host, _, port = host_and_port.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise BadInput(
            f"{host_and_port!r} is not a syslog server's address. Give HOST:PORT, such as 192.0.2.10:514 or [::1]:514."
        )
    try:
        return SysLogHandler((host.removeprefix("[").removesuffix("]"), int(port)), socktype=socket.SOCK_DGRAM)
    except OSError as exc:
        raise BadInput(
            f"The syslog server {host_and_port!r} cannot be used: {exc.strerror}. Give another address."
        ) from exc
