"""Replays a past run at its own pace or faster, through the same renderer as a live run."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from app.events.record import Recorded, parse_line
from app.store.events import EventStore
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.stream import sse_messages

FRAME_SECONDS = 0.05
LONGEST_GAP = 2.0
"""Longer gaps without events are cut to this."""
CHUNK = 400


@dataclass(frozen=True)
class ItemJumps:
    previous: int
    next: int


class Replay:
    def __init__(self, store: EventStore, run: str) -> None:
        self._store, self._run = store, run

    def find_neighbouring_items(self, seq: int, last: int) -> ItemJumps:
        """Return the starts of the previous and next items."""
        starts = [one for one, _, _ in self._store.read_lines(self._run, kinds=["item.started"])]
        before = [one for one in starts if one < seq]
        after = [one for one in starts if one > seq]
        return ItemJumps(before[-1] if before else 1, after[0] if after else last)

    async def stream_frames(self, page_renderer: PageRenderer, after: int, speed: float) -> AsyncIterator[bytes]:
        clock = 0.0
        while batch := await asyncio.to_thread(self._read_chunk, after):
            clock = clock or batch[0].at
            for frame in split_frames(batch, FRAME_SECONDS * speed):
                await asyncio.sleep(min(max(frame[0].at - clock, 0.0) / speed, LONGEST_GAP))
                clock = frame[0].at
                yield await asyncio.to_thread(page_renderer, frame)
            after = batch[-1].seq
        yield sse_messages.encode_end(after)

    def _read_chunk(self, after: int) -> list[Recorded]:
        return [parse_line(line, digest) for _, line, digest in self._store.read_lines(self._run, after, limit=CHUNK)]


def split_frames(batch: Sequence[Recorded], window: float) -> list[list[Recorded]]:
    """Return the events in frames, each with what happened within `window` seconds."""
    frames: list[list[Recorded]] = []
    for recorded in batch:
        if frames and recorded.at - frames[-1][0].at < window:
            frames[-1].append(recorded)
        else:
            frames.append([recorded])
    return frames
