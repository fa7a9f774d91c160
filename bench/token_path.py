"""From the engine's chunk to a viewer's socket, through log and database: how late each token comes.

    python bench/token_path.py [--rates 15,200,2000] [--viewers 50] [--seconds 6] [--write]

The engine stamps each token as it writes it; every viewer reads every stamp. Up to the merge window of 50 ms is meant
(a lone token goes at once); the aim is a p99 of at most 10 ms over it. Beside it stands the floor of the same run:
the same tokens read straight from the engine. --write puts the table into docs/measurements/.
"""

import argparse
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from note import versions, write_note

from app.loop.turn_streaming import MERGE_SECONDS

ROOT = Path(__file__).parent.parent
STAMP = re.compile(rb"<(\d{6,})>")
AIM_MS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rates", default="15,200,2000")
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = [
        "| tok/s | p50 ms | p99 ms | over the window, p99 | floor p99 ms | p99 ÷ floor | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [row(rate, asked.viewers, asked.seconds) for rate in map(int, asked.rates.split(","))]
    print("\n".join(lines))
    if asked.write:
        write(lines, asked)


def row(rate: int, viewers: int, seconds: float) -> str:
    with started("engine", rate, seconds) as engine:
        floor = read(engine, 1, int(rate * seconds), seconds)
        with tempfile.TemporaryDirectory() as folder, started("temper", engine, viewers, folder) as temper:
            late = read(temper, viewers, int(rate * seconds), seconds)
    p50, p99, straight = at(late, 0.5), at(late, 0.99), at(floor, 0.99)
    window = 1000 * MERGE_SECONDS if rate > 1 / MERGE_SECONDS else 0.0
    over = p99 - window
    met = "met" if over <= AIM_MS else "missed"
    return f"| {rate} | {p50:.1f} | {p99:.1f} | {over:.1f} | {straight:.2f} | {p99 / straight:.1f} | {met} |"


def read(port: int, viewers: int, tokens: int, seconds: float) -> list[float]:
    """Milliseconds, of every token at every viewer; a token that is missing or doubled ends the bench."""
    watching = selectors.EpollSelector()
    for _ in range(viewers):
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.sendall(b"GET /sub HTTP/1.1\r\nHost: bench\r\n\r\n")
        connection.setblocking(False)
        watching.register(connection, selectors.EVENT_READ, bytearray())
    late: list[float] = []
    until = time.monotonic() + seconds + 10
    while len(late) < viewers * tokens and time.monotonic() < until:
        for key, _ in watching.select(0.5):
            data = key.fileobj.recv(262144)
            now = time.monotonic_ns()
            if not data:
                watching.unregister(key.fileobj)
            key.data.extend(data)
            stamps = list(STAMP.finditer(key.data))
            late += [(now - int(stamp[1])) / 1e6 for stamp in stamps]
            if stamps:
                del key.data[: stamps[-1].end()]
    if len(late) != viewers * tokens:
        sys.exit(f"{len(late)} tokens came of {viewers * tokens}")
    for key in list(watching.get_map().values()):
        key.fileobj.close()
    watching.close()
    return sorted(late)


def at(late: list[float], share: float) -> float:
    return late[min(len(late) - 1, int(len(late) * share))]


@contextmanager
def started(*words: object) -> Iterator[int]:
    command = [sys.executable, str(ROOT / "bench" / "peers" / "tokens.py"), *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def write(lines: list[str], asked: argparse.Namespace) -> None:
    said = (
        f"Latency for {asked.viewers} viewers over {asked.seconds:g} s of tokens; `python bench/token_path.py --write`."
        ' The minimum ("floor") is one client that reads directly from the engine.'
        " Below 20 tok/s there is no window: a single token is sent at once."
    )
    ran_with = versions("uvicorn", "starlette", "httpx", "sqlalchemy")
    write_note("token_path", "From the engine's chunk to a viewer's socket", said, lines, ran_with)


if __name__ == "__main__":
    main()
