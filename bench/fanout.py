"""One 200-byte frame, 20 a second, to 50, 200 and 1,000 viewers: how late it comes, and what the server spends.

    python bench/fanout.py [--viewers 50,200,1000] [--rounds 3] [--seconds 4] [--write]

Each round runs every server once, so that a noisy minute falls on all of them alike; shown are medians of the rounds.
The floor is a raw asyncio TCP server, the peer is nginx with nchan (apt-get install libnginx-mod-nchan; left out
where it is not installed). Server and viewers have a core each. --write puts the table into docs/measurements/.
"""

import argparse
import os
import re
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from note import versions, write_note

ROOT = Path(__file__).parent.parent
SERVERS = ("raw", "nchan", "hub", "ring")
PUBLISHED = re.compile(rb"data: (\d{6,}) ")
NCHAN = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Round:
    p50: float
    p99: float
    cpu: float
    """Percent of one core."""
    missed: float
    """Percent of the frames that did not come in time to be counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--viewers", default="50,200,1000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    servers = [name for name in SERVERS if name != "nchan" or NCHAN.exists()]
    lines = [
        "| viewers | server | p50 ms | p99 ms | CPU % | p99 ÷ floor | p99 ÷ nchan |",
        "|---|---|---|---|---|---|---|",
    ]
    for viewers in map(int, asked.viewers.split(",")):
        rounds: dict[str, list[Round]] = {name: [] for name in servers}
        for _ in range(asked.rounds):
            for name in servers:
                rounds[name].append(measured(name, viewers, asked.seconds))
        lines += table(viewers, rounds)
    print("\n".join(lines))
    if asked.write:
        write(lines, asked)


def table(viewers: int, rounds: dict[str, list[Round]]) -> Iterator[str]:
    late = {name: statistics.median(one.p99 for one in done) for name, done in rounds.items()}
    for name, done in rounds.items():
        p50, cpu = (statistics.median(getattr(one, field) for one in done) for field in ("p50", "cpu"))
        missed = max(one.missed for one in done)
        mark = f" ({missed:.0f} % missed)" if missed >= 1 else ""
        peer = f"{late[name] / late['nchan']:.2f}" if "nchan" in late else "—"
        figures = f"{p50:.1f} | {late[name]:.1f} | {cpu:.0f} | {late[name] / late['raw']:.2f} | {peer}"
        yield f"| {viewers} | {name}{mark} | {figures} |"


def measured(name: str, viewers: int, seconds: float) -> Round:
    with started(name) as (port, pids):
        watching = selectors.EpollSelector()
        for _ in range(viewers):
            watching.register(viewer(port), selectors.EVENT_READ)
        collect(watching, 1.0)
        before, began = spent(pids), time.monotonic()
        late = collect(watching, seconds)
        took = time.monotonic() - began
        cpu = 100 * (spent(pids) - before) / took
        for key in list(watching.get_map().values()):
            key.fileobj.close()
        watching.close()
    late.sort()
    expected = viewers * 20 * seconds
    missed = max(0.0, 100 * (1 - len(late) / expected)) if late else 100.0
    return Round(late[len(late) // 2] / 1e6, late[int(len(late) * 0.99)] / 1e6, cpu, missed)


def viewer(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 10)
    connection.sendall(b"GET /sub HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n")
    connection.setblocking(False)
    return connection


def collect(watching: selectors.BaseSelector, seconds: float) -> list[int]:
    """Nanoseconds from publishing to reading, of every frame that comes in this time."""
    late, until = [], time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        for key, _ in watching.select(left):
            data = key.fileobj.recv(65536)
            now = time.monotonic_ns()
            if not data:
                sys.exit("a server closed a stream: its figures would be worth nothing")
            late += [now - int(at) for at in PUBLISHED.findall(data)]
    return late


@contextmanager
def started(name: str) -> Iterator[tuple[int, list[int]]]:
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, str(ROOT / "bench" / "peers" / "servers.py"), name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    os.sched_setaffinity(0, cores[:1])  # the server inherits it
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    os.sched_setaffinity(0, cores[-1:])
    try:
        port, *pids = map(int, server.stdout.readline().split())
        yield port, pids
    finally:
        os.sched_setaffinity(0, cores)
        server.send_signal(signal.SIGINT if name == "nchan" else signal.SIGKILL)
        server.wait()
        server.stdout.close()


def spent(pids: list[int]) -> float:
    """Seconds of processor time, system and user."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / TICK


def write(lines: list[str], asked: argparse.Namespace) -> None:
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=False).stderr.strip().split("/")[-1]
    said = (
        f"One 200-byte frame, 20 a second; medians of {asked.rounds} interleaved rounds of {asked.seconds:g} s;"
        " `python bench/fanout.py --write`. raw is the floor, nchan the peer, hub what Temper does,"
        " ring (a task for each viewer, through sse-starlette) what it does not do."
    )
    ran_with = versions("uvicorn", "starlette", "sse-starlette")
    write_note("fanout", "Fan-out to many viewers", said, lines, ran_with, f"nginx {nginx} with nchan")


if __name__ == "__main__":
    main()
