"""All of it, one after the other, against a real server with an operator signed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.forkserver import temper
from tests.served import served
from tests.stranger.attacks import Target, Told, bodies, connections, half_requests, nothing, passwords
from tests.stranger.beside import Seen, watched

PASSWORD = "a long enough password"
SECONDS = 15.0
"""Longer than a head may take."""
BODY = 256 * 2**20


@dataclass(frozen=True)
class Size:
    connections: int
    halves: int
    body: int
    passwords: int
    seconds: float = SECONDS


@dataclass(frozen=True)
class Siege:
    attacks: dict[str, tuple[Told, Seen]]
    output: str
    """What the server logged."""

    def lines(self) -> Iterator[str]:
        yield "| attack | tried | taken | s | slowest page, s | most memory, MiB | disk grew, MiB |"
        yield "|---|---|---|---|---|---|---|"
        for name, (told, seen) in self.attacks.items():
            figures = f"{seen.slowest:.2f} | {seen.most_memory:.0f} | {seen.grown:.2f}"
            yield f"| {name} | {told.asked} | {told.taken} | {told.seconds:.0f} | {figures} |"
        yield f"Pages answered: {sum(len(seen.answers) for _, seen in self.attacks.values())}, all with 200."
        yield f"Lines that the server logged: {len(self.output.splitlines())}."


async def siege(data: Path, size: Size) -> Siege:
    _make_operator(data)
    with served(data, "--sign-in", "--speed", "0") as server:
        cookie = _session(server.url)
        target, found = Target(server.port), {}
        attacks = {
            "nobody": lambda: nothing(size.seconds),
            "connections": lambda: connections(target, size.connections, size.seconds),
            "half requests": lambda: half_requests(target, size.halves, size.seconds),
            "bytes of body": lambda: bodies(target, max(2, size.body // BODY), min(BODY, size.body // 2)),
            "wrong passwords": lambda: passwords(target, size.passwords),
        }
        for name, attack in attacks.items():
            async with watched(server.url, server.process.pid, data, cookie) as seen:
                told = await attack()
            assert server.process.poll() is None, server.output()
            assert seen.statuses == {200}, (name, seen.statuses)
            found[name] = (told, seen)
        _session(server.url)  # and the operator comes in anew, while the stranger is shut out of their name
        return Siege(found, server.output())


def _make_operator(data: Path) -> None:
    made = temper("admin", "create", "operator", "--data", data, input=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr


def _session(url: str) -> str:
    with httpx.Client(base_url=url) as http:
        answer = http.post("/sign-in", data={"name": "operator", "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return answer.cookies["temper-session"]
