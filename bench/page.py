"""The mission page in a real browser under 200 tokens a second: the longest task, frames, and layout shift.

    python bench/page.py [seconds]

A demo run is played as fast as it can and opened in its midst; tokens come as the stream's own events. The floor is the
same page, idle.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright

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
TOKENS = """(token) => dispatchEvent(
  new CustomEvent("token", { detail: { data: JSON.stringify({ ...token, channel: "thought" }) } }))"""


async def measured(page: Page, seconds: float, *, tokens: bool) -> str:
    await page.evaluate(WATCH)
    place = await page.evaluate("document.querySelector('.lane .body[data-staged]').dataset.turn")
    role = await page.evaluate("document.querySelector('.step[data-staged]').dataset.role")
    text = " word" * (RATE // MERGED)
    for _ in range(int(seconds * MERGED)):
        if tokens:
            await page.evaluate(TOKENS, {"turn": place, "role": role, "text": text})
        await asyncio.sleep(1 / MERGED)
    tasks, shift, frames = await page.evaluate("[window.tasks, window.shift, window.frames.sort((a, b) => a - b)]")
    p99 = frames[int(len(frames) * 0.99) - 1] if frames else float("nan")
    return (
        f"{len(tasks)} tasks over 50 ms (longest {max(tasks, default=0):.0f}), frame p99 {p99:.0f} ms, CLS {shift:.3f}"
    )


async def look(url: str, seconds: float) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"], env=surroundings())
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
        served(Path(folder) / "data", "--speed", "0", command="demo") as server,
    ):
        server.wait_for_kind("run.finished", patience=600)
        asyncio.run(look(f"{server.url}/runs/{server.runs()[0]}?at=300", asked))
