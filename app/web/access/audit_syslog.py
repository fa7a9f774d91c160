"""Send the head of the audit chain to a remote syslog, so that truncation of the local chain can be detected."""

import logging
import socket
from logging.handlers import SysLogHandler

from app.errors import BadInput
from app.events.record import Recorded


class AuditSyslog:
    def __init__(self, address: str) -> None:
        """`address` is HOST:PORT (UDP); an empty string disables sending."""
        self._handler = SysLogHandler(_parse_syslog_address(address), socktype=socket.SOCK_DGRAM) if address else None

    def send_head(self, line: Recorded) -> None:
        if self._handler is None:
            return
        said = f"temper audit seq={line.seq} hash={line.hash}"
        self._handler.emit(logging.LogRecord("temper.audit", logging.INFO, "", 0, said, None, None))

    def close(self) -> None:
        if self._handler:
            self._handler.close()


def _parse_syslog_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise BadInput(f"{address!r} is not the address of a syslog server. Give HOST:PORT, such as 192.0.2.10:514.")
    return host, int(port)
