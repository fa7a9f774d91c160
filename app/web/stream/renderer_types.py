"""Rendering of events to messages, on the event loop if it is short."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from app.events.record import Recorded

Render = Callable[[Sequence[Recorded]], bytes]
"""Renders a batch of events to complete messages, each with its id. Must depend on the batch only: it runs in threads,
and again on older batches for late viewers."""

FEW = 16
SMALL = 16 * 1024
"""Bytes of lines. Within both limits, rendering takes less time than switching threads twice."""


@runtime_checkable
class InlineRender(Protocol):
    """A renderer that can render short batches on the event loop: a thread switch costs more than a few tokens."""

    def render_inline_if_cheap(self, batch: Sequence[Recorded]) -> bytes | None:
        """Render on the event loop. Return None, without side effects, if it would read, wait or take long."""


@dataclass(frozen=True)
class PerEventRender:
    """Renders each event to a message of its own, from the event alone."""

    message_of: Callable[[Recorded], bytes]
    instead: bytes = b""
    """Sent if no event of a batch produces a message."""

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        return b"".join(map(self.message_of, batch)) or self.instead

    def render_inline_if_cheap(self, batch: Sequence[Recorded]) -> bytes | None:
        return self(batch) if is_small_batch(batch) else None


def is_small_batch(batch: Sequence[Recorded]) -> bool:
    return len(batch) <= FEW and sum(len(one.line) for one in batch) <= SMALL


def get_inline_render_or_stub(render: Render) -> Callable[[Sequence[Recorded]], bytes | None]:
    """Return the inline renderer, looked up once per stream because isinstance on a protocol is slow."""
    return render.render_inline_if_cheap if isinstance(render, InlineRender) else lambda _batch: None
