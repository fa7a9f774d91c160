"""The mission page in a real browser: its first screen, and tasks, frames and layout shift at 200 tokens a second.

    python bench/page.py [seconds]

The first screen is that of a run at work, beside a few words of the same server, as the median of five loads each.
Tokens come twice: from a run whose engines write 200 a second, and, into one turn of a run that is over, as events of
the stream. The floor of both is the same page, idle. Each line has the load of the machine, and windows are repeated:
what is told is the quietest. What an idle server with ten open pages takes is measured by bench/idle.py.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, Playwright, async_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.chromium import program, surroundings
from tests.served import served

RATE, MERGED = 200, 20
"""Tokens a second; messages a second, as turns are merged at 50 ms."""
WATCH = """() => {
  window.tasks = []; window.shift = 0; window.frames = []; let last = performance.now();
  const each = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type });
  each("longtask", (one) => window.tasks.push(one.duration));
  each("layout-shift", (one) => (window.shift += one.value));
  const frame = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""
ENGINE_TOK_S = 15.1
"""What the simulated engine of Architect and Worker writes a second at speed 1 (app/lineups/simulated.toml)."""
LOADS, WINDOWS = 5, 3
LONG = 50
FLOOR = "/api/v1/me"
"""A few words as text, without styles and scripts."""
PAINTED = """() => new Promise((ready) => {
  const seen = (list) => { const last = list.getEntries().at(-1); if (last) ready(last.startTime); };
  new PerformanceObserver(seen).observe({ type: "largest-contentful-paint", buffered: true });
})"""
TOKENS = """(token) => dispatchEvent(
  new CustomEvent("token", { detail: { data: JSON.stringify({ ...token, channel: "thought" }) } }))"""


async def measured(page: Page, seconds: float, *, tokens: bool) -> str:
    browser = page.context.browser
    assert browser
    await page.evaluate(WATCH)
    await browser.start_tracing(page=page, categories=["toplevel"])
    place = await page.evaluate("document.querySelector('.lane .body[data-staged]')?.dataset.turn")
    role = await page.evaluate("document.querySelector('.step[data-staged]')?.dataset.role")
    text = " word" * (RATE // MERGED)
    for _ in range(int(seconds * MERGED)):
        if tokens:
            await page.evaluate(TOKENS, {"turn": place, "role": role, "text": text})
        await asyncio.sleep(1 / MERGED)
    tasks, shift, frames = await page.evaluate("[window.tasks, window.shift, window.frames.sort((a, b) => a - b)]")
    spent = read_task_times(json.loads(await browser.stop_tracing()))
    p99 = frames[int(len(frames) * 0.99) - 1] if frames else float("nan")
    return (
        f"{len(tasks)} tasks over 50 ms (longest {max(tasks, default=0):.0f}), by processor time "
        f"{sum(one > LONG for one in spent)} (longest {max(spent, default=0):.0f}); "
        f"frame p99 {p99:.0f} ms, CLS {shift:.3f}"
    )


def read_task_times(trace: dict[str, list[dict[str, Any]]]) -> list[float]:
    """Return the milliseconds of processor time of each task of the pages' main threads.

    A long task by the clock may be one that waited for a processor: on a busy machine only these times count."""
    events = trace["traceEvents"]
    main = {(one["pid"], one["tid"]) for one in events if one.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [one for one in events if "tdur" in one and (one["pid"], one["tid"]) in main]
    return [one["tdur"] / 1000 for one in tasks]


async def measure_first_screen(browser: Browser, address: str) -> float:
    """Return the median milliseconds to the largest paint, each time with an empty cache."""
    took = []
    for _ in range(LOADS):
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        page = await context.new_page()
        await page.goto(address)
        took.append(await page.evaluate(PAINTED))
        await context.close()
    return statistics.median(took)


async def look_at_live_run(url: str, seconds: float) -> None:
    async with async_playwright() as playwright:
        browser = await launch_browser(playwright)
        for _ in range(WINDOWS):
            floor, painted = [await measure_first_screen(browser, url + path) for path in (FLOOR, "/")]
            print(f"first screen: {painted:.0f} ms, a few words {floor:.0f} ms, {painted / floor:.1f} times; {load()}")
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.goto(url)
        for _ in range(WINDOWS):
            print(f"a run at {RATE} tokens/s: ", await measured(page, seconds / WINDOWS, tokens=False), load())
        await browser.close()


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


async def launch_browser(playwright: Playwright) -> Browser:
    return await playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"], env=surroundings())


async def look(url: str, seconds: float) -> None:
    async with async_playwright() as playwright:
        browser = await launch_browser(playwright)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.goto(url)
        got = await page.evaluate("performance.getEntries().reduce((all, one) => all + (one.transferSize ?? 0), 0)")
        print(f"page, styles and scripts over the wire: {got / 1000:.0f} kB")
        print("idle:          ", await measured(page, seconds, tokens=False))
        print(f"{RATE} tokens/s:  ", await measured(page, seconds, tokens=True))
        await browser.close()


if __name__ == "__main__":
    asked = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "data", "--speed", f"{RATE / ENGINE_TOK_S:.1f}", command="demo") as server,
    ):
        server.wait_for_kind("turn.started")
        asyncio.run(look_at_live_run(server.url, asked))
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "data", "--speed", "0", command="demo") as server,
    ):
        server.wait_for_kind("run.finished", patience=600)
        asyncio.run(look(f"{server.url}/runs/{server.runs()[0]}?at=300", asked))
