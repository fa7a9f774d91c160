"""A message that replaces the one before it, sent at once to every viewer of a stream, whatever the log does."""

import asyncio
from typing import Protocol

from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer_connection import Viewer

LOOKED = encode_message(b"{}", name="looked")


class Notices(Protocol):
    async def serve_viewer(self, viewer: Viewer) -> None: ...


class Announcements:
    """Viewers who join get the newest message first."""

    def __init__(self, content: bytes = b"") -> None:
        self.viewers = 0
        self._content = content
        self._changed = asyncio.Event()

    def announce(self, content: bytes) -> None:
        """Send the content to every viewer; if it has not changed, only a sign that the server lives."""
        self._content = content
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def send_keepalive(self) -> None:
        """Send every viewer a sign that the server lives."""
        self.announce(self._content)

    async def serve_viewer(self, viewer: Viewer) -> None:
        sent = None
        while True:
            content, changed = self._content, self._changed
            await viewer.write(LOOKED if content == sent else content)
            sent = content
            await changed.wait()
