"""Live parts of a page: rendered with each sample while there are viewers, and sent when they change."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from app.events.record import Recorded
from app.machine.sampling.series_on_time_grid import sum_figures_by_time
from app.web.stream.sse_messages import encode_message

FRESH_SECONDS = 3.0
"""Parts older than this are rendered again for a new viewer."""
VIEWED_SECONDS = 15.0
"""Parts older than this have no viewers: samples are at most ten seconds apart."""


class LiveParts:
    def __init__(
        self,
        name: str,
        draw: Callable[[], Mapping[str, str]],
        swap: str = "innerHTML",
        read_signs: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`draw` returns inner HTML by element id; `read_signs` what differs if more than figures changed.

        Both are called from threads, and signs from the event loop, too."""
        self.name = name
        self._draw, self._swap, self._read_signs, self._clock = draw, swap, read_signs, clock
        self._lock = threading.Lock()
        self._drawn: dict[str, str] = {}
        self._sent: dict[str, str] = {}
        """The parts that every viewer has; one that is missing is sent with the next sample."""
        self._drawn_at = float("-inf")
        self._signs: object = None

    def has_news(self) -> bool:
        """Return whether viewers wait for more than figures, and the next sample is some seconds away."""
        viewed = self._clock() - self._drawn_at < VIEWED_SECONDS
        return viewed and (self._sent.keys() != self._drawn.keys() or self._signs != self._read_signs())

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        with self._lock:
            self._signs, before = self._read_signs(), self._sent
            self._sent = self._draw_all_parts()
            changed = {name: html for name, html in self._sent.items() if before.get(name) != html}
        return self._encode_parts(changed) + _encode_samples(batch)

    def render_all(self) -> bytes:
        """Return all parts for a new viewer. The others get with the next sample what differs from theirs."""
        with self._lock:
            if self._clock() - self._drawn_at > FRESH_SECONDS:
                now = self._draw_all_parts()
                self._sent = {name: html for name, html in self._sent.items() if now.get(name) == html}
            return self._encode_parts(self._drawn)

    def _draw_all_parts(self) -> dict[str, str]:
        self._drawn, self._drawn_at = dict(self._draw()), self._clock()
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
    for at, found in sum_figures_by_time(batch):
        if found:
            told = [(key.kind, key.of, key.host, key.figure, round(value, 3)) for key, value in found.items()]
            sent += encode_message(msgspec.json.encode({"at": at, "series": told}), name="samples")
    return sent
