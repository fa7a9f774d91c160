"""A log that grows by hand, and viewers whose sockets are lists or are full."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from app.events.bus import Bus
from app.events.kinds import RunFailed, RunStopped, TurnDelta
from app.events.log_writer import LogWriter, RunLog
from app.events.record import Recorded
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.stream.fanout import Fanout
from app.web.stream.run_and_machine_event_sources import RunSource
from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer_connection import Viewer

RUN = "0badcafe"


def said(batch: Sequence[Recorded]) -> bytes:
    return b"".join(encode_message(getattr(one.event, "text", "").encode(), seq=one.seq) for one in batch)


@dataclass
class Socket:
    """Takes what is sent while it is open; while it is full, who sends waits."""

    room: asyncio.Event = field(default_factory=asyncio.Event)
    got: bytes = b""
    pushed: int = 0
    """Chunks that came past the application."""
    takes: int | None = None
    """Bytes of a chunk that it has room for; None: for all."""
    kept: bytes = b""
    _straight: bytes = b""
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.room.set()

    async def send(self, message) -> None:
        await self.room.wait()
        self.got += message.get("body", b"")
        self.came.set()

    def write(self, chunk: bytes) -> int:
        """What comes past the application; a socket that is full takes a part of it."""
        if self.kept or not self.room.is_set():
            return 0
        if self.takes is not None:
            self.kept, chunk = chunk[self.takes :], chunk[: self.takes]
        self._straight += chunk
        self._unframe()
        return len(chunk)

    def buffer_rest(self, rest: bytes) -> bool:
        if not self.room.is_set():
            return False
        assert not self.kept or rest == self.kept, "what was kept is not what was left"
        self._straight, self.kept = self._straight + rest, b""
        self._unframe()
        return True

    def pause_direct_writes(self):
        return nullcontext()

    def _unframe(self) -> None:
        length, mark, rest = self._straight.partition(b"\r\n")
        if not mark or len(rest) < int(length, 16) + 2:
            return
        assert (len(rest), rest[-2:]) == (int(length, 16) + 2, b"\r\n")
        self._straight, self.got, self.pushed = b"", self.got + rest[:-2], self.pushed + 1
        self.came.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(10):
            while text not in self.got.decode():
                self.came.clear()
                await self.came.wait()

    @property
    def ids(self) -> list[int]:
        return [int(line[4:]) for line in self.got.decode().split("\n") if line.startswith("id: ")]


@dataclass
class Log:
    store: EventStore
    bus: Bus
    writer: LogWriter
    log: RunLog

    async def say(self, *texts: str) -> None:
        deltas = [TurnDelta(turn="t1", role="worker", channel="answer", text=text, tokens=1) for text in texts]
        self.log.append(*deltas)
        await self.log.flush()

    async def end(self) -> None:
        self.log.append(RunStopped(by="op", reason="enough", tree=""))
        await self.log.flush()

    async def fail(self) -> None:
        self.log.append(RunFailed(reason="broken"))
        await self.log.flush()

    def fanout(self, **options) -> Fanout:
        return Fanout(RUN, self.bus, RunSource(self.store, RUN), said, **options)


@asynccontextmanager
async def logging(path: Path) -> AsyncIterator[Log]:
    database = open_and_migrate_database(path / "temper.sqlite")
    store, bus = EventStore(database), Bus()
    writer = LogWriter(store, bus)
    writer.start()
    try:
        yield Log(store, bus, writer, RunLog(RUN, writer))
    finally:
        await writer.close()
        database.dispose()


@asynccontextmanager
async def watching(
    fanout: Fanout, *sockets: tuple[Socket, int | None], pushed: bool = False
) -> AsyncIterator[list[asyncio.Task[None]]]:
    viewers = [(Viewer(socket.send, socket if pushed else None), after) for socket, after in sockets]
    tasks = [asyncio.create_task(fanout.serve_viewer(viewer, after)) for viewer, after in viewers]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
