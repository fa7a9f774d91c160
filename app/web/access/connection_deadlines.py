"""uvicorn's HTTP/1.1 protocol with time limits for request heads, request bodies and reads by anonymous clients."""

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from app.web.access.connection_limiter import ConnectionLimiter
from app.web.access.direct_socket_writer import DirectSocketWriter

LINGER_BYTES = 1024 * 1024


@dataclass(frozen=True)
class HttpTimeouts:
    """Limits in seconds."""

    head: float = 10.0
    body: float = 30.0
    read: float = 30.0
    """For an anonymous client to read the response."""
    linger: float = 1.0
    """For draining an unwanted body, so that the client can still read the error."""


class TimeoutH11Protocol(H11Protocol):
    def __init__(
        self,
        crowd: ConnectionLimiter,
        patience: HttpTimeouts,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "line": self}, _loop)
        self._crowd, self._patience = crowd, patience
        self._admitted = self._known = False
        self._awaited: object = None
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._discarded: int | None = None
        """Body bytes received after the response was sent; None while not draining."""
        self._straight: DirectSocketWriter | None = None

    @property
    def is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def abort(self) -> None:
        self.cancel_timeouts_and_leave_limiter()
        self.transport.abort()

    def mark_signed_in(self) -> None:
        if not self._known:
            self._known = True
            self._crowd.mark_signed_in(self)
            self._cancel_slow_reader_timeout()

    def try_write_chunk(self, chunk: bytes) -> bool:
        """Write a framed chunk of the response under way. Return False if the transport cannot take it now."""
        if self.flow.write_paused or self.transport.is_closing() or self.is_idle:
            return False
        self.transport.write(chunk)
        return True

    def can_write_directly(self) -> bool:
        return not (self.transport.get_write_buffer_size() or self.transport.is_closing() or self.is_idle)

    def find_direct_writer(self) -> DirectSocketWriter | None:
        """Return the direct socket writer, or None over TLS, where plain bytes cannot be written."""
        if self._straight is None and self.transport.get_extra_info("sslcontext") is None:
            self._straight = DirectSocketWriter(self, self.transport.get_extra_info("socket").fileno())
        return self._straight

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._admitted = self._crowd.admit_connection_or_close_idle_one(self, self.client[0] if self.client else "")
        if self._admitted:
            self._set_deadline("head", self._patience.head)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._straight:
            self._straight.discard_writes_after_connection_loss()
        self.cancel_timeouts_and_leave_limiter()
        super().connection_lost(exc)

    def cancel_timeouts_and_leave_limiter(self) -> None:
        self._set_deadline(None, 0.0)
        self._cancel_slow_reader_timeout()
        if self._admitted:
            self._admitted = False
            self._crowd.remove_connection(self)

    def data_received(self, data: bytes) -> None:
        if not self._admitted:
            return
        if self._discarded is not None:
            self._discarded += len(data)
            if self._discarded > LINGER_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        self._watch_request()

    def on_response_complete(self) -> None:
        unread = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if unread and not self.transport.is_closing():
            self._linger_before_close()
        elif not unread:
            self._watch_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        if not self._known and self._unread is None:
            self._unread = self.loop.call_later(self._patience.read, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_slow_reader_timeout()

    def _watch_request(self) -> None:
        """Set the deadline for what is awaited: one limit for a whole head or body, however slowly it arrives."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._set_deadline("body", self._patience.body)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._set_deadline("head", self._patience.head)
        else:
            self._set_deadline(None, 0.0)

    def _set_deadline(self, awaited_part: object, seconds: float) -> None:
        if awaited_part == self._awaited:
            return
        if self._late:
            self._late.cancel()
        self._awaited = awaited_part
        self._late = self.loop.call_later(seconds, self.transport.abort) if awaited_part else None

    def _cancel_slow_reader_timeout(self) -> None:
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _linger_before_close(self) -> None:
        """Drain the rest of the body before closing: a reset would lose the response."""
        self._discarded = 0
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._set_deadline("end", self._patience.linger)
