"""How events become messages, and how much of that the event loop does itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from app.events.record import Recorded

Render = Callable[[Sequence[Recorded]], bytes]
"""A batch of events to whole messages, each with its id. A function of the batch alone: it runs in threads, and
again on older batches for who comes late."""

FEW = 16
SMALL = 16 * 1024
"""Bytes of lines. Within both limits a rendering takes less than the two changes of thread that it saves."""


@runtime_checkable
class AtHand(Protocol):
    """A rendering that can tell what it has at hand: a change of thread and back costs more than a few tokens."""

    def at_hand(self, batch: Sequence[Recorded]) -> bytes | None:
        """On the event loop. None where it would read, wait or be long: nothing is done then, and a thread does it."""


@dataclass(frozen=True)
class EachAlone:
    """Every event a message of its own, made of the event and nothing else."""

    message_of: Callable[[Recorded], bytes]
    instead: bytes = b""
    """Where nothing of a batch is told."""

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        return b"".join(map(self.message_of, batch)) or self.instead

    def at_hand(self, batch: Sequence[Recorded]) -> bytes | None:
        return self(batch) if short(batch) else None


def short(batch: Sequence[Recorded]) -> bool:
    return len(batch) <= FEW and sum(len(one.line) for one in batch) <= SMALL


def at_hand(render: Render) -> Callable[[Sequence[Recorded]], bytes | None]:
    """Asked once a stream: the question itself takes longer than a token."""
    return render.at_hand if isinstance(render, AtHand) else _never


def _never(_batch: Sequence[Recorded]) -> None:
    return None
