"""One event stream for all its viewers: followed once, rendered once, written to every socket by one loop."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.events.bus import Bus, Tail
from app.events.record import ALL, MACHINE, Recorded
from app.web.stream import sse_messages
from app.web.stream.renderer_types import Render, get_inline_render_or_stub
from app.web.stream.run_and_machine_event_sources import EventSource, is_final_event
from app.web.stream.viewer_connection import SharedFrame, Viewer, create_shared_frame_encoded_once

log = logging.getLogger(__name__)

FRAME_SECONDS = 0.04
"""Slightly less than the 50 ms over which a turn merges tokens, so one turn's frames never wait here."""
CHUNK = 500
"""Events read and rendered at a time."""
AT_ONCE = 500
"""Viewers written to before other tasks get the event loop: about 4 ms."""

HEARTBEAT_SECONDS = 15.0
"""Seconds without an event after which every viewer of the stream gets a heartbeat."""

FRAMES = 4096
BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Frame:
    first: int
    last: int
    body: bytes


class FrameRing:
    """The newest frames of a stream, bounded by count and bytes."""

    def __init__(self, frames: int = FRAMES, size: int = BYTES) -> None:
        self._frames: deque[Frame] = deque()
        self._most_frames, self._most_bytes = frames, size
        self._bytes = 0

    def append(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._bytes += len(frame.body)
        while len(self._frames) > self._most_frames or self._bytes > self._most_bytes:
            self._bytes -= len(self._frames.popleft().body)

    def read_after(self, seq: int) -> bytes | None:
        """Return all bytes after `seq`, or None if they are no longer kept or `seq` is inside a frame."""
        bodies: list[bytes] = []
        for frame in reversed(self._frames):
            if frame.last == seq:
                break
            bodies.append(frame.body)
            if frame.first == seq + 1:
                break
        else:
            return None
        return b"".join(reversed(bodies))


class Fanout:
    def __init__(
        self,
        run: str,
        bus: Bus,
        source: EventSource,
        render: Render,
        *,
        reach: int | None = None,
        ring: FrameRing | None = None,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        """`reach`: a viewer more events behind than this is reset; None lets every viewer catch up."""
        self.run = run
        self.viewers = 0
        self._bus, self._source = bus, source
        self._render, self._at_hand = render, get_inline_render_or_stub(render)
        self._reach, self._heartbeat = reach, heartbeat
        self._ring = ring or FrameRing()
        self._head = 0
        self._ends = is_final_event if run not in (MACHINE, ALL) else lambda _event: False
        self._ended = False
        self.is_closed = False
        """True once closed: a new viewer needs a new Fanout."""
        self._opened = asyncio.Event()
        self._live_viewers: dict[Viewer, None] = {}
        """Viewers at the head, in order of arrival; the others catch up in their own tasks."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._follow_run(), name=f"stream of {self.run}")
        self._task.add_done_callback(self._close_after_failure)

    def close(self) -> None:
        """End every viewer's stream at once."""
        self.is_closed = True
        self._opened.set()
        if self._task:
            self._task.cancel()
        self._wake_viewers()

    async def wait_until_opened_and_get_head(self) -> int:
        """Wait until the stream is followed, and return its head."""
        await self._opened.wait()
        return self._head

    async def serve_viewer(self, viewer: Viewer, after: int | None) -> None:
        """Serve a viewer until the stream has ended or closes. `after` None starts at the head."""
        await self._opened.wait()
        after = self._head if after is None else after
        await viewer.write(sse_messages.HELLO)
        while not self.is_closed:
            if await self._is_unknown_position(after) or (self._reach is not None and self._head - after > self._reach):
                await viewer.write(sse_messages.encode_reset(self._head))
                return
            if after > self._head:
                await asyncio.sleep(FRAME_SECONDS)
            elif after < self._head:
                after = await self._catch_up(viewer, after)
            elif self._ended:
                await viewer.write(sse_messages.encode_end(self._head))
                return
            else:
                after = await self._serve_live_until_left_out_and_get_seq(viewer)

    async def _is_unknown_position(self, after: int) -> bool:
        """Return True for a seq beyond the log. A snapshot may be newer than our head, so ask the store."""
        return after > self._head and after > await asyncio.to_thread(self._source.read_last_seq)

    async def _serve_live_until_left_out_and_get_seq(self, viewer: Viewer) -> int:
        self._live_viewers[viewer] = None
        try:
            await viewer.wait_until_left_out_of_writes()
        finally:
            stepped_out = viewer not in self._live_viewers
            self._live_viewers.pop(viewer, None)
        return viewer.after if stepped_out else self._head

    async def _catch_up(self, viewer: Viewer, after: int) -> int:
        upto = self._head
        held = self._ring.read_after(after)
        if held is not None:
            await viewer.write(held)
            return upto
        batch, content = await asyncio.to_thread(self._read_chunk, after, upto)
        await viewer.write(content)
        return batch[-1].seq if batch else upto

    def _read_chunk(self, after: int, upto: int | None) -> tuple[list[Recorded], bytes]:
        batch = self._source.read_after(after, upto, CHUNK)
        return batch, self._render(batch) if batch else b""

    async def _follow_run(self) -> None:
        with self._bus.follow_run(self.run) as tail:
            await self._deliver_until_end(tail)
        self._wake_viewers()

    async def _deliver_until_end(self, tail: Tail) -> None:
        self._head = await asyncio.to_thread(self._source.read_last_seq)
        newest = await asyncio.to_thread(self._source.read_after, self._head - 1, None, 1)
        self._ended = bool(newest) and self._ends(newest[-1].event)
        self._opened.set()
        while not self._ended:
            try:
                async with asyncio.timeout(self._heartbeat):
                    await self._bus.wait_for_event_after(self.run, self._head)
            except TimeoutError:
                await self._send_to_viewers(
                    create_shared_frame_encoded_once(self._head, self._head, sse_messages.HEARTBEAT)
                )
                continue
            since = time.monotonic()
            await self._deliver_pending_batch(tail)
            await asyncio.sleep(compute_frame_pause(time.monotonic() - since))

    async def _deliver_pending_batch(self, tail: Tail) -> None:
        """Deliver events from memory, or read them if another process wrote them."""
        if batch := tail.read_after(self._head, CHUNK):
            at_hand = self._at_hand(batch)
            content = await asyncio.to_thread(self._render, batch) if at_hand is None else at_hand
        else:
            batch, content = await asyncio.to_thread(self._read_chunk, self._head, None)
        if not batch:
            raise LookupError(f"{self.run} has more than {self._head} events, and the store does not hold them")
        before, self._head = self._head, batch[-1].seq
        self._ring.append(Frame(batch[0].seq, self._head, content))
        if content:
            await self._send_to_viewers(create_shared_frame_encoded_once(before, self._head, content))
        self._ended = self._ends(batch[-1].event)

    async def _send_to_viewers(self, shared_frame: SharedFrame) -> None:
        """Viewers who join meanwhile already have this batch."""
        waiting = list(self._live_viewers)
        for begin in range(0, len(waiting), AT_ONCE):
            if begin:
                await asyncio.sleep(0)
            self._write_to_viewers(waiting[begin : begin + AT_ONCE], shared_frame)

    def _write_to_viewers(self, viewers: Sequence[Viewer], shared_frame: SharedFrame) -> None:
        """Write to thousands of sockets 20 times a second: one system call each while all keep up."""
        abreast, chunk, size, taken = self._live_viewers, shared_frame.chunk, len(shared_frame.chunk), 0
        for viewer in viewers:
            if viewer not in abreast:
                continue
            try:
                taken = viewer.way.write(chunk)
            except OSError:  # full or closed: the transport finds out which
                taken = 0
            if taken != size and not viewer.send_rest_of_frame(shared_frame, taken):
                del abreast[viewer]

    def _wake_viewers(self) -> None:
        for viewer in self._live_viewers:
            viewer.wake()

    def _close_after_failure(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        log.error("stream of %s broke off", self.run, exc_info=task.exception())
        self.close()


def compute_frame_pause(took: float) -> float:
    """Return seconds until the next frame. Rendering gets at most half of the loop's time; then frames merge."""
    return max(FRAME_SECONDS - took, took)
