"""Requests while others look at past moments of a run: their median with such viewers over their median without.

    python bench/past_moments.py [viewers] [times]

A SIMULATED run is made and served. Viewers are threads of a process of their own; each asks for a random moment (?at=)
as soon as it has the last one. Requests with and without viewers are made in turns, three times each, so that other
work on the machine counts in both.
"""

import http.client
import multiprocessing
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.served import served

ROUNDS = 3


def watch(address: str, path: str, viewers: int, begin: Event, end: Event, answered: "Queue[int]") -> None:
    """Look at moments while `begin` is set, until `end` is set; then put the number of answers."""
    counts = [0] * viewers

    def look(place: int) -> None:
        dice = random.Random(place)
        while not end.is_set():
            if not begin.wait(0.05):
                continue
            connection = http.client.HTTPConnection(address, timeout=60)
            while begin.is_set() and not end.is_set():
                connection.request("GET", f"{path}?at={dice.randrange(1, 400)}")
                counts[place] += connection.getresponse().read() != b""
            connection.close()

    threads = [threading.Thread(target=look, args=(place,)) for place in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answered.put(sum(counts))


def measure_requests(address: str, paths: Sequence[str], times: int) -> dict[str, list[float]]:
    connection = http.client.HTTPConnection(address, timeout=60)
    took: dict[str, list[float]] = {path: [] for path in paths}
    for _ in range(times):
        for path in paths:
            began = time.perf_counter()
            connection.request("GET", path)
            connection.getresponse().read()
            took[path].append(time.perf_counter() - began)
            time.sleep(0.02)  # as people come, and not as fast as it goes
    return took


def measure(address: str, run: str, viewers: int, times: int) -> None:
    page, paths = f"/runs/{run}", (f"/runs/{run}", "/api/v1/me")
    begin, end, answered = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue()
    watching = multiprocessing.Process(target=watch, args=(address, page, viewers, begin, end, answered))
    watching.start()
    measure_requests(address, paths, 5)
    rounds, seconds = [], 0.0
    for _ in range(ROUNDS):
        alone = measure_requests(address, paths, times)
        begin.set()
        time.sleep(1)  # until all of them look
        began = time.perf_counter()
        rounds.append((alone, measure_requests(address, paths, times)))
        seconds += time.perf_counter() - began
        begin.clear()
        time.sleep(1)
    end.set()
    print(f"{answered.get(timeout=120)} moments in {seconds + ROUNDS:.0f} s")
    watching.join()
    for name, path in (("the page", page), ("GET /api/v1/me", paths[1])):
        alone_s, beside_s = ([one for pair in rounds for one in pair[side][path]] for side in (0, 1))
        alone_ms, beside_ms = statistics.median(alone_s) * 1000, statistics.median(beside_s) * 1000
        worst = statistics.quantiles(beside_s, n=20)[18] * 1000
        print(
            f"{name}: median {alone_ms:.1f} ms, beside {viewers} viewers {beside_ms:.1f} ms, p95 {worst:.1f} ms", end=""
        )
        print(f": {beside_ms / alone_ms:.1f} times")


if __name__ == "__main__":
    viewers, times = (*map(int, sys.argv[1:]), *(40, 100)[len(sys.argv) - 1 :])
    with (
        tempfile.TemporaryDirectory(prefix="temper-bench-") as folder,
        served(Path(folder) / "data", "--speed", "0", command="demo") as server,
    ):
        server.wait_for_kind("run.finished", patience=600)
        measure(server.url.split("//")[1], server.runs()[0], viewers, times)
