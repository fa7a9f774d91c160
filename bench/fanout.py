"""One 200-byte frame, 20 a second, to 50 up to 5,000 viewers: how late it comes, who misses any, what it costs.

    python bench/fanout.py [--viewers 50,200,1000,5000] [--rounds 5] [--seconds 3] [--servers hub,raw] [--write]

Each round runs every server once, so that a noisy minute falls on all of them alike; shown are medians of the rounds.
The floor is a raw asyncio TCP server, the peer is nginx with nchan (apt-get install libnginx-mod-nchan; left out
where it is not installed). Server and viewers have a core each. On a busy machine `chrt -f 1` before it gives both
real-time priority. --write puts the table into docs/measurements/.
"""

import argparse
import gc
import os
import re
import resource
import select
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from note import versions, write_note

ROOT = Path(__file__).parent.parent
SERVERS = ("raw", "nchan", "hub", "ring")
RING_MOST = 1000
"""A task for each viewer is past its end there."""
PUBLISHED = re.compile(rb"data: (\d{6,}) ")
NCHAN = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Round:
    p50: float
    p99: float
    cpu: float
    """Percent of one core."""
    memory: float
    """MiB resident at the end."""
    lost: int
    """Frames that a viewer never got, though others did before and after."""
    dropped: int
    """Viewers whose stream was closed."""
    missed: float
    """Percent of the frames that did not come in time to be counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--viewers", default="50,200,1000,5000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--servers", default=",".join(SERVERS))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    open_files()
    servers = [name for name in asked.servers.split(",") if name != "nchan" or NCHAN.exists()]
    lines = [
        "| viewers | server | p50 ms | p99 ms | CPU % | MiB | frames lost | dropped | p99 ÷ raw | p99 ÷ nchan |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for viewers in map(int, asked.viewers.split(",")):
        rounds: dict[str, list[Round]] = {name: [] for name in servers if name != "ring" or viewers <= RING_MOST}
        for _ in range(asked.rounds):
            for name, done in rounds.items():
                done.append(measured(name, viewers, asked.seconds))
        lines += table(viewers, rounds)
    print("\n".join(lines))
    if asked.write:
        write(lines, asked)


def open_files() -> None:
    """A socket for each viewer; the servers inherit the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def table(viewers: int, rounds: dict[str, list[Round]]) -> Iterator[str]:
    late = {name: statistics.median(one.p99 for one in done) for name, done in rounds.items()}
    for name, done in rounds.items():
        p50, cpu, memory = (
            statistics.median(getattr(one, field) for one in done) for field in ("p50", "cpu", "memory")
        )
        lost, dropped, missed = (max(getattr(one, field) for one in done) for field in ("lost", "dropped", "missed"))
        mark = f" ({missed:.0f} % late)" if missed >= 1 else ""
        ratios = (f"{late[name] / late[of]:.2f}" if of in late else "—" for of in ("raw", "nchan"))
        figures = f"{p50:.1f} | {late[name]:.1f} | {cpu:.0f} | {memory:.0f} | {lost} | {dropped} | {' | '.join(ratios)}"
        yield f"| {viewers:,} | {name}{mark} | {figures} |"


def measured(name: str, viewers: int, seconds: float) -> Round:
    with started(name) as (port, pids), closing(Crowd()) as crowd:
        for _ in range(viewers):
            crowd.join(port)
        crowd.settle()
        before, began = spent(pids), time.monotonic()
        crowd.watch(seconds)
        cpu = 100 * (spent(pids) - before) / (time.monotonic() - began)
        memory = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * PAGE / 2**20
        late = sorted(crowd.late)
        missed = max(0.0, 100 * (1 - len(late) / (viewers * 20 * seconds)))
        p50, p99 = (late[int(len(late) * part)] / 1e6 for part in (0.5, 0.99))
        return Round(p50, p99, cpu, memory, crowd.lost(), crowd.dropped, missed)


@dataclass
class Crowd:
    """Viewers, each a socket and nothing more."""

    late: list[int] = field(default_factory=list)
    """Nanoseconds from when a frame was due to reading."""
    dropped: int = 0
    _ready: select.epoll = field(default_factory=select.epoll)
    _sockets: dict[int, socket.socket] = field(default_factory=dict)
    _got: dict[int, list[bytes]] = field(default_factory=dict)
    """When what each viewer got was due."""
    _begun: dict[int, bytes] = field(default_factory=dict)
    """A frame of which the end is still to come."""

    def join(self, port: int) -> None:
        viewer = socket.create_connection(("127.0.0.1", port), 10)
        viewer.sendall(b"GET /sub HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n")
        viewer.setblocking(False)
        self._sockets[viewer.fileno()] = viewer
        self._got[viewer.fileno()] = []
        self._ready.register(viewer, select.EPOLLIN)

    def settle(self) -> None:
        """Until everybody gets frames, and a second more."""
        until = time.monotonic() + 60
        while not all(self._got.values()) and time.monotonic() < until:
            self.watch(0.5)
        self.watch(1.0)
        self.late.clear()

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for number, _ in self._ready.poll(left):
                data = self._sockets[number].recv(65536)
                now = time.monotonic_ns()
                if not data:
                    self.dropped += 1
                    self._ready.unregister(number)
                    continue
                if self._begun:
                    data = self._begun.pop(number, b"") + data
                if data[-1] != 10:
                    data, _, self._begun[number] = data.rpartition(b"\n")
                published = PUBLISHED.findall(data)
                self._got[number] += published
                self.late += [now - int(at) for at in published]

    def lost(self) -> int:
        published = sorted({at for got in self._got.values() for at in got}, key=int)
        place = {at: place for place, at in enumerate(published)}
        return sum(place[got[-1]] - place[got[0]] + 1 - len(got) for got in self._got.values() if got)

    def close(self) -> None:
        self._ready.close()
        for viewer in self._sockets.values():
            viewer.close()


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
        f"One 200-byte frame, 20 per second; medians of {asked.rounds} interleaved rounds of {asked.seconds:g} s;"
        " `python bench/fanout.py --write`. raw is the minimum, nchan the reference, hub is Temper,"
        " ring the alternative with one task per viewer, through sse-starlette. Lost frames and dropped viewers are"
        " of the worst round."
    )
    ran_with = versions("uvicorn", "starlette", "sse-starlette")
    write_note("fanout", "Fan-out to many viewers", said, lines, ran_with, f"nginx {nginx} with nchan")


if __name__ == "__main__":
    gc.disable()  # the viewers' own pauses are nobody's delay
    main()
