"""Replays a past run at its own pace or faster, through the same renderer as a live run."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from app.events.record import Recorded, read
from app.store.events import EventStore
from app.web.pages.mission.screen import Screen
from app.web.stream import message

FRAME_SECONDS = 0.05
LONGEST_GAP = 2.0
"""Longer gaps without events are cut to this."""
CHUNK = 400


@dataclass(frozen=True)
class Jumps:
    previous: int
    next: int


class Replay:
    def __init__(self, store: EventStore, run: str) -> None:
        self._store, self._run = store, run

    def jumps(self, seq: int, last: int) -> Jumps:
        """Return the starts of the previous and next items."""
        starts = [one for one, _, _ in self._store.lines(self._run, kinds=["item.started"])]
        before = [one for one in starts if one < seq]
        after = [one for one in starts if one > seq]
        return Jumps(before[-1] if before else 1, after[0] if after else last)

    async def frames(self, screen: Screen, after: int, speed: float) -> AsyncIterator[bytes]:
        clock = 0.0
        while batch := await asyncio.to_thread(self._chunk, after):
            clock = clock or batch[0].at
            for frame in _framed(batch, FRAME_SECONDS * speed):
                await asyncio.sleep(min(max(frame[0].at - clock, 0.0) / speed, LONGEST_GAP))
                clock = frame[0].at
                yield await asyncio.to_thread(screen, frame)
            after = batch[-1].seq
        yield message.end(after)

    def _chunk(self, after: int) -> list[Recorded]:
        return [read(line, digest) for _, line, digest in self._store.lines(self._run, after, limit=CHUNK)]


def _framed(batch: Sequence[Recorded], window: float) -> list[list[Recorded]]:
    frames: list[list[Recorded]] = []
    for recorded in batch:
        if frames and recorded.at - frames[-1][0].at < window:
            frames[-1].append(recorded)
        else:
            frames.append([recorded])
    return frames
