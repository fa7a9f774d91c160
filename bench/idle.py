"""What a server takes of a core while nothing is worked on: with nobody looking, and with pages open.

    python bench/idle.py [--seconds 60] [--pages 0,10] [--write]

Processor time by the kernel's own count (/proc/PID/stat), of the server and of the simulated engines that it started.
An open page does what a browser's does: it asks anew for the cards of the machine every two seconds.
"""

import argparse
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
TICK = os.sysconf("SC_CLK_TCK")
SETTLED = 10.0
"""Seconds after the first answer, in which it still lays things out."""
EVERY = 2.0
"""As the page's own hx-trigger has it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pages", default="0,10")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = ["| pages open | server, % of a core | its event loop | its other threads | simulated engines |"]
    lines += ["|---|---|---|---|---|"]
    with served() as (port, server):
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


def ticks(stat: Path) -> float:
    told = stat.read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / TICK


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *children(child)]
    return found


@contextmanager
def opened(port: int, pages: int) -> Iterator[None]:
    over = threading.Event()

    def page() -> None:
        ask(port, "/")
        while not over.wait(EVERY):
            ask(port, "/machine")

    threads = [threading.Thread(target=page) for _ in range(pages)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def ask(port: int, path: str) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        answer.read()


@contextmanager
def served() -> Iterator[tuple[int, int]]:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "app", "serve", "--port", str(port), "--data", f"{folder}/data"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                yield port, process.pid
            finally:
                process.terminate()


def write(lines: list[str], seconds: float) -> None:
    today = datetime.now(UTC).date().isoformat()
    machine = f"{platform.machine()}, {os.cpu_count()} cores · Python {platform.python_version()}"
    head = [
        "# A server that has nothing to do",
        "",
        f"{today} · {machine}",
        "",
        f"The demo's line-up, SQLite, {seconds:g} s each; `python bench/idle.py --write`.",
        "",
    ]
    path = ROOT / "docs" / "measurements" / "idle.md"
    path.write_text("\n".join([*head, *lines, ""]))


if __name__ == "__main__":
    main()
