"""What holds up an event loop, whatever else the machine is busy with: waits of its thread, and processor time.

No clock is read: on a busy machine every callback takes long. A callback's own processor time counts, and each call by
which the thread would wait for a disk, a process, another thread or the database.
"""

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine, event

import app

OURS = str(Path(app.__file__).parent)
LONGEST = 0.05
CALLS = (
    "open",
    "os.listdir",
    "os.scandir",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.fork",
    "os.posix_spawn",
    "fcntl.flock",
    "subprocess.Popen",
    "socket.getaddrinfo",
    "sqlite3.connect",
    "time.sleep",
)
"""Each is told to whoever audits; what runs in the interpreter alone is not."""
_watches: list["LoopWatch"] = []
_hooked: list[bool] = []


@dataclass
class LoopWatch:
    thread: int
    waited: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        frame, places = sys._getframe(2), []
        while frame:
            file = frame.f_code.co_filename
            if file.startswith("<frozen importlib"):
                return  # a module is read once
            if file.startswith(OURS):
                places.append(f"{file.removeprefix(OURS)}:{frame.f_lineno}")
            frame = frame.f_back
        if places:
            self.waited.append(f"{what} at {' < '.join(places[:3])}")


def _told(what: str) -> None:
    for watch in _watches:
        if threading.get_ident() == watch.thread:
            watch.note(what)


def _audited(name: str, args: tuple[object, ...]) -> None:
    if _watches and name in CALLS:
        _told(f"{name} {args[0] if args else ''}")


def _sent(_connection, _cursor, statement, *_) -> None:
    _told(f"statement {' '.join(statement.split())[:60]}")


@contextmanager
def watching_the_loop() -> Iterator[LoopWatch]:
    if not _hooked:  # an audit hook is for ever
        sys.addaudithook(_audited)
        _hooked.append(True)
    watch = LoopWatch(threading.get_ident())
    run, wait = asyncio.Handle._run, threading.Condition.wait

    def measured(self):
        began = time.thread_time()
        run(self)
        spent = time.thread_time() - began
        if spent > LONGEST and threading.get_ident() == watch.thread:
            watch.long.append(f"{spent * 1000:.0f} ms of {self!r}")

    def waited(self, timeout=None):
        starting = sys._getframe(2).f_code is threading.Thread.start.__code__  # as long as the thread takes to begin
        if timeout != 0 and not starting:
            _told("a wait for another thread")
        return wait(self, timeout)

    asyncio.Handle._run, threading.Condition.wait = measured, waited
    event.listen(Engine, "before_cursor_execute", _sent)
    _watches.append(watch)
    gc.freeze()  # what other tests left behind is not looked through in a callback of this one
    try:
        yield watch
    finally:
        gc.unfreeze()
        _watches.remove(watch)
        with suppress(ValueError):
            event.remove(Engine, "before_cursor_execute", _sent)
        asyncio.Handle._run, threading.Condition.wait = run, wait
