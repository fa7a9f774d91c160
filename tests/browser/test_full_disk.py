"""A file system that is really full: the run waits and says why, goes on by itself, and no attempt is spent."""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.shown_faults import measure_words
from tests.browser.test_shown_faults import KNOWN_AFTER, SLOW_MACHINE
from tests.served import Server

RULES = ["V-257820", "V-257984"]
"""Each passes at its first attempt."""
TOLD = (
    "attempt.started",
    "item.passed",
    "run.waiting",
    "attempt.failed",
    "attempt.reflected",
    "item.escalated",
    "lesson",
)
"""Kinds of events; the last four are of an attempt that was spent."""
SMALL = 24 * 2**20
"""Bytes of the file system: a run of two rules needs a fifth of it."""


@contextmanager
def serve_on_small_disk(data: Path, mounted: Path):
    """Serve with a file system of its own at `mounted`, and yield the server and the folder as seen from here."""
    data.mkdir()
    log = data.with_suffix(".log")
    wall = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent", "--size", str(SMALL), "--tmpfs", str(mounted)]
    line = [*wall, sys.executable, "-m", "app", "serve", "--data", str(data), "--port", "0", "--speed", "8"]
    with log.open("w") as errors:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        said = process.stdout.readline()
        assert "Temper is at" in said, log.read_text()
        [inside] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Server(process, data, int(said.rsplit(":", 1)[1]), log), Path(f"/proc/{inside}/root{mounted}")
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@contextmanager
def fill_disk(folder: Path):
    """Leave no byte free on the folder's file system, and free it again."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0")
    assert os.statvfs(folder).f_bavail == 0
    try:
        yield
    finally:
        ballast.unlink()


@pytest.mark.parametrize(
    ("place", "words"), [("hosts", "Disk full: Temper cannot write"), ("", "Temper cannot write its log")]
)
async def test_a_run_waits_while_the_disk_is_full_and_no_attempt_is_spent(page, tmp_path, place, words):
    data = tmp_path / "data"
    with serve_on_small_disk(data, data / place) as (server, small):
        order = {"host": "fixture", "rules": RULES, "mode": "auto"}
        made = await page.request.post(f"{server.url}/api/v1/runs", data=order)
        run = (await made.json())["id"]
        await page.goto(f"{server.url}/runs/{run}")
        await expect(page.locator(".shared .serving.on")).to_be_visible()
        with fill_disk(small):
            seconds = await measure_words(page, words)
            assert place or seconds < KNOWN_AFTER["log blocked"] + 2.0 + SLOW_MACHINE
            await expect(page.locator(".fault.stops")).to_contain_text(words)
            await expect(page.locator("#liveness")).not_to_have_text("LIVE")
        await expect(page.locator("#liveness")).to_have_text("ENDED")
        answer = await page.request.get(f"{server.url}/api/v1/runs/{run}/events?limit=1000&kind={','.join(TOLD)}")
        log = (await answer.json())["events"]
    attempts = [(one["rule"], one["attempt"]) for one in log if one["kind"] == "attempt.started"]
    assert sorted(attempts) == [(rule, 1) for rule in RULES]
    assert [one["rule"] for one in log if one["kind"] in TOLD[3:]] == []
    assert sum(one["kind"] == "item.passed" for one in log) == len(RULES)
    waits = [one for one in log if one["kind"] == "run.waiting"]
    assert [one["cause"] for one in waits] == ["storage"] * (1 if place else len(waits))
