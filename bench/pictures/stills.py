"""python bench/pictures/stills.py: the still pictures of docs/ anew, from runs that it starts itself.

A demo run to its end, then four hosts at once. Needs Debian's chromium, which also encodes them.
"""

import asyncio
import base64
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
from animate import OUT, RULE, ended, served
from playwright.async_api import Browser, async_playwright

from app.store.db import open_and_migrate_database
from app.store.events import EventStore

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.chromium import program, surroundings

QUALITY = 0.8
HOSTS = "fixture,fixture-2,fixture-3,fixture-4"
WAITED = 45.0
"""Seconds of the rollout until its lanes have something to show."""
ENCODE = """async ([png, quality]) => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}"""


@dataclass(frozen=True)
class Still:
    file: str
    path: str
    width: int = 1440
    height: int = 900
    clicked: str = ""
    showing: str = ""
    """What is to be there when it is taken."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url, httpx.Client(base_url=url) as http:
        store = EventStore(open_and_migrate_database(Path(folder) / "temper.sqlite"))
        run = finished(store)
        asyncio.run(taken(url, of_one(store, run)))
        rollout = http.post("/fleet", data={"hosts": HOSTS, "at_once": "4", "waves": "rest", "replay": "0"})
        time.sleep(WAITED)
        asyncio.run(taken(url, of_many(rollout.headers["location"])))


def finished(store: EventStore) -> str:
    while not (runs := store.list_started_unended_runs()):
        time.sleep(0.5)
    while store.list_started_unended_runs():
        time.sleep(1)
    return runs[0]


def of_one(store: EventStore, run: str) -> Sequence[Still]:
    """At the moment in which what harmed is undone."""
    told = store.read_events(run, kinds=["action.rolled_back", "item.passed", "item.escalated"])
    seq = next(one.seq for one in told if not ended(one) and getattr(one.event, "rule", "") == RULE)
    return (
        Still("moment.webp", f"/runs/{run}?at={seq}", clicked="#step-sentry"),
        Still("mission-phone.webp", f"/runs/{run}?at={seq}", 390, 844),
        Still("item.webp", f"/runs/{run}/items/{RULE}"),
        Still("end.png", f"/runs/{run}"),
    )


def of_many(rollout: str) -> Sequence[Still]:
    return (
        Still("hosts-at-once.webp", "/", showing="#share-gemma-31b .serving.on"),
        Still("operator.webp", "/ops", showing="#engine-gemma-31b .many .rolename"),
        Still("rollout.webp", rollout, showing=".engineline:first-of-type .serving.on"),
        Still("runs.webp", "/runs", 1440, 500),
    )


async def taken(url: str, stills: Sequence[Still]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"], env=surroundings())
        for still in stills:
            data = await take(browser, url, still)
            (OUT.parent / still.file).write_bytes(data)
            print(f"{still.file}: {len(data):,} bytes")
        await browser.close()


async def take(browser: Browser, url: str, still: Still) -> bytes:
    page = await browser.new_page(
        viewport={"width": still.width, "height": still.height}, color_scheme="dark", reduced_motion="reduce"
    )
    await page.goto(url + still.path)
    if still.clicked:
        await page.locator(still.clicked).click()
    await page.wait_for_timeout(2500)  # charts are drawn, and streams have brought what is true now
    if still.showing:
        await page.locator(still.showing).wait_for()
    png = await page.screenshot()
    await page.close()
    if still.file.endswith(".png"):
        return png
    bench = await browser.new_page()
    encoded: str = await bench.evaluate(ENCODE, [base64.b64encode(png).decode(), QUALITY])
    await bench.close()
    return base64.b64decode(encoded)


if __name__ == "__main__":
    main()
