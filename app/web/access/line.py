"""uvicorn's HTTP/1.1 protocol with time limits for request heads, request bodies and reads by anonymous clients."""

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from app.web.access.connections import Connections
from app.web.access.straight import StraightWay

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


class HttpLine(H11Protocol):
    def __init__(
        self,
        crowd: Connections,
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
        self._straight: StraightWay | None = None

    @property
    def idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def end(self) -> None:
        self.connection_over()
        self.transport.abort()

    def known(self) -> None:
        if not self._known:
            self._known = True
            self._crowd.known(self)
            self._read()

    def push(self, chunk: bytes) -> bool:
        """Write a framed chunk of the response under way. Return False if the transport cannot take it now."""
        if self.flow.write_paused or self.transport.is_closing() or self.idle:
            return False
        self.transport.write(chunk)
        return True

    def clear(self) -> bool:
        return not (self.transport.get_write_buffer_size() or self.transport.is_closing() or self.idle)

    def straight(self) -> StraightWay | None:
        """Return the direct socket writer, or None over TLS, where plain bytes cannot be written."""
        if self._straight is None and self.transport.get_extra_info("sslcontext") is None:
            self._straight = StraightWay(self, self.transport.get_extra_info("socket").fileno())
        return self._straight

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._admitted = self._crowd.admits(self, self.client[0] if self.client else "")
        if self._admitted:
            self._await("head", self._patience.head)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._straight:
            self._straight.end()
        self.connection_over()
        super().connection_lost(exc)

    def connection_over(self) -> None:
        self._await(None, 0.0)
        self._read()
        if self._admitted:
            self._admitted = False
            self._crowd.left(self)

    def data_received(self, data: bytes) -> None:
        if not self._admitted:
            return
        if self._discarded is not None:
            self._discarded += len(data)
            if self._discarded > LINGER_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        unread = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if unread and not self.transport.is_closing():
            self._linger()
        elif not unread:
            self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        if not self._known and self._unread is None:
            self._unread = self.loop.call_later(self._patience.read, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read()

    def _look(self) -> None:
        """Set the deadline for what is awaited: one limit for a whole head or body, however slowly it arrives."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._await("body", self._patience.body)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._await("head", self._patience.head)
        else:
            self._await(None, 0.0)

    def _await(self, what: object, seconds: float) -> None:
        if what == self._awaited:
            return
        if self._late:
            self._late.cancel()
        self._awaited = what
        self._late = self.loop.call_later(seconds, self.transport.abort) if what else None

    def _read(self) -> None:
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _linger(self) -> None:
        """Drain the rest of the body before closing: a reset would lose the response."""
        self._discarded = 0
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._await("end", self._patience.linger)
