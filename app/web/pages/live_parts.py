"""Live parts of a page: rendered once a second while there are viewers, and sent when they change."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from app.events.record import Recorded
from app.machine.sampling.series import group_by_time
from app.web.stream.sse_messages import encode_message

FRESH_SECONDS = 3.0
"""Parts older than this were rendered for earlier viewers and are rendered again."""


class LiveParts:
    def __init__(self, name: str, draw: Callable[[], Mapping[str, str]], swap: str = "innerHTML") -> None:
        """`draw` returns inner HTML by element id; it is called from threads."""
        self.name = name
        self._draw, self._swap = draw, swap
        self._lock = threading.Lock()
        self._drawn: dict[str, str] = {}
        self._drawn_at = float("-inf")

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        with self._lock:
            before, now = self._drawn, self._redraw_parts()
            changed = {name: html for name, html in now.items() if before.get(name) != html}
        return self._encode_parts(changed) + _encode_samples(batch)

    def render_all(self) -> bytes:
        with self._lock:
            if time.monotonic() - self._drawn_at > FRESH_SECONDS:
                self._redraw_parts()
            return self._encode_parts(self._drawn)

    def _redraw_parts(self) -> dict[str, str]:
        self._drawn, self._drawn_at = dict(self._draw()), time.monotonic()
        return self._drawn

    def _encode_parts(self, parts: Mapping[str, str]) -> bytes:
        return encode_message(wrap_partials(parts, self._swap).encode()) if parts else b""


def wrap_partials(parts: Mapping[str, str], swap: str = "innerHTML") -> str:
    """Return one text that makes htmx swap each part into the element with its id."""
    return "".join(
        f'<hx-partial hx-target="#{name}" hx-swap="{swap}">{html}</hx-partial>' for name, html in parts.items()
    )


def _encode_samples(batch: Sequence[Recorded]) -> bytes:
    """Encode the samples in a batch as messages for the charts."""
    sent = b""
    for at, found in group_by_time(batch):
        if found:
            told = [(key.kind, key.of, key.host, key.figure, round(value, 3)) for key, value in found.items()]
            sent += encode_message(msgspec.json.encode({"at": at, "series": told}), name="samples")
    return sent
