"""What a server takes of a core while nothing is worked on: with nobody looking, and with pages open.

    python bench/idle.py [--seconds 60] [--pages 0,10] [--root FOLDER] [--write]

Processor time by the kernel's own count (/proc/PID/stat), of the server and of the simulated engines that it started.
An open page is the operator's: it is loaded, and its stream is read. --root: another checkout, to compare with.
"""

import argparse
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from note import write_note

ROOT = Path(__file__).parent.parent
TICK = os.sysconf("SC_CLK_TCK")
SETTLED = 25.0
"""Seconds after the first answer, in which it still lays things out and finds that there is nothing to do."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pages", default="0,10")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = ["| pages open | server, % of a core | its event loop | its other threads | simulated engines |"]
    lines += ["|---|---|---|---|---|"]
    with served(asked.root) as (port, server):
        time.sleep(SETTLED)
        for pages in map(int, asked.pages.split(",")):
            with opened(port, pages):
                lines.append(row(pages, server, asked.seconds))
            print(lines[-1], flush=True)
    if asked.write:
        write(lines, asked.seconds)


def row(pages: int, server: int, seconds: float) -> str:
    before, began = spent(server), time.monotonic()
    threading.Event().wait(seconds)
    took = time.monotonic() - began
    whole, loop, engines = (100 * (now - was) / took for was, now in zip(before, spent(server), strict=True))
    return f"| {pages} | {whole:.2f} | {loop:.2f} | {whole - loop:.2f} | {engines:.2f} |"


def spent(server: int) -> tuple[float, float, float]:
    """Seconds of the server, of its first thread, and of all that it started."""
    return (
        ticks(Path(f"/proc/{server}/stat")),
        ticks(Path(f"/proc/{server}/task/{server}/stat")),
        sum(ticks(Path(f"/proc/{child}/stat")) for child in children(server)),
    )


def ticks(stat: Path, *, ended: bool = False) -> float:
    """With `ended`, those of its children that have ended, too."""
    told = stat.read_text().rpartition(")")[2].split()
    return sum(map(int, told[11 : 15 if ended else 13])) / TICK


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *children(child)]
    return found


@contextmanager
def opened(port: int, pages: int) -> Iterator[None]:
    over, read = threading.Event(), selectors.DefaultSelector()
    for _ in range(pages):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ops", timeout=30) as answer:
            answer.read()
        stream = socket.create_connection(("127.0.0.1", port), 30)
        stream.sendall(b"GET /ops/stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
        read.register(stream, selectors.EVENT_READ)

    def reading() -> None:
        while not over.is_set():
            for key, _ in read.select(1.0):
                key.fileobj.recv(1 << 20)

    thread = threading.Thread(target=reading)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for key in list(read.get_map().values()):
            key.fileobj.close()


@contextmanager
def served(root: Path) -> Iterator[tuple[int, int]]:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "app", "serve", "--port", str(port), "--data", f"{folder}/data"]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                yield port, process.pid
            finally:
                process.terminate()


def write(lines: list[str], seconds: float) -> None:
    said = f"The demo's line-up, SQLite, {seconds:g} s each; `python bench/idle.py --write`."
    write_note("idle", "An idle server", said, lines)


if __name__ == "__main__":
    main()
