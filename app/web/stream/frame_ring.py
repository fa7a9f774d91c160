"""The newest frames of a stream, in a buffer bounded by count and bytes."""

from collections import deque
from dataclasses import dataclass

FRAMES = 4096
BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Frame:
    first: int
    last: int
    body: bytes


class FrameRing:
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
