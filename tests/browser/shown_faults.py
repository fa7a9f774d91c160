"""Faults under an open page: how each is struck, by which words the page tells it, and how it passes."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from playwright.async_api import Error as PageError
from playwright.async_api import Page

from tests.browser.conftest import simulator_of
from tests.served import Server

SAID = "['health', 'lost', 'liveness', 'now'].map((id) => document.getElementById(id)?.textContent.trim())"
WORDS = "words => ['health', 'lost', 'liveness'].some((id) => document.getElementById(id).textContent.includes(words))"


@dataclass(frozen=True)
class ShownFault:
    name: str
    words: str
    """What the page says of it."""
    strike: Callable[[Server], "Fault"]


Fault = Iterator[None]


def kill_engines(server: Server) -> Fault:
    os.kill(simulator_of(server), signal.SIGKILL)
    yield


def freeze_engines(server: Server) -> Fault:
    simulator = simulator_of(server)
    os.kill(simulator, signal.SIGSTOP)
    yield
    os.kill(simulator, signal.SIGCONT)


def block_log(server: Server) -> Fault:
    """Keep every event from being written, as a full disk does."""
    with closing(sqlite3.connect(server.data / "temper.sqlite")) as database:
        database.execute("begin immediate")
        yield


def freeze_server(server: Server) -> Fault:
    server.process.send_signal(signal.SIGSTOP)
    yield
    server.process.send_signal(signal.SIGCONT)


def kill_server(server: Server) -> Fault:
    server.process.kill()
    server.process.wait()
    yield


FAULTS = (
    ShownFault("engines frozen", "ENGINE", freeze_engines),
    ShownFault("log blocked", "Temper cannot write its log", block_log),
    ShownFault("server frozen", "No connection to the server since", freeze_server),
    ShownFault("engines killed", "The simulated engines are stopped.", kill_engines),
    ShownFault("server killed", "No connection to the server since", kill_server),
)


NO_DATABASE = "The database does not answer this node."


@contextmanager
def strike_fault(fault: ShownFault, server: Server) -> Iterator[None]:
    struck = fault.strike(server)
    next(struck)
    try:
        yield
    finally:
        next(struck, None)


async def measure_words(page: Page, words: str) -> float:
    """Return the seconds until the page has these words."""
    began = time.monotonic()
    try:
        await page.wait_for_function(WORDS, arg=words, polling=50)
    except PageError as exc:
        raise AssertionError(f"never said: {words!r}; the page says {await page.evaluate(SAID)}") from exc
    return time.monotonic() - began


async def order_run(page: Page, server: Server) -> str:
    """Order a run of two rules on the built-in host and return its id."""
    order = {"host": "fixture", "rules": ["V-257985", "V-257820"], "mode": "auto"}
    made = await page.request.post(f"{server.url}/api/v1/runs", data=order)
    return str((await made.json())["id"])
