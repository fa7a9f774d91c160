"""python bench/pictures/animate.py: the picture at the top of the README anew, from a run that it starts itself.

One item as it went: the change passes the scanner, the Sentry finds somebody locked out, it is undone, and the second
attempt knows why. Needs Debian's chromium, as the browser tests do. The browser itself encodes the frames; they are
put together here, each as the part of the picture that changed.
"""

import asyncio
import base64
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from app.events.kinds import ItemEscalated, ItemPassed, TurnDelta, get_event_kind
from app.events.record import Recorded
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.chromium import program, surroundings

OUT = Path(__file__).parents[2] / "docs" / "pictures" / "mission.webp"
RULE = "V-257985"
WIDTH, HEIGHT, QUALITY = 1200, 608, 0.5
MOST_BYTES = 1_500_000
PACE = "10"
DELTAS = 2
"""Frames of one turn's text as it comes."""
HOLD = {
    "item.started": 900, "plan": 700, "action.proposed": 1100, "verdict": 1100, "sentry.probed": 900,
    "sentry.alarm": 2200, "action.rolled_back": 2400, "lesson": 2200, "item.passed": 2600,
}  # fmt: skip
"""Milliseconds by kind, as long as a person reads; text comes faster."""
QUICK = 260
TEMPER = [sys.executable, "-m", "app"]
CROP = """async ([png, before, quality]) => {
  const load = async (data) => createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
  const draw = (bitmap) => {
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return context;
  };
  const now = draw(await load(png)), { width, height } = now.canvas;
  let [left, top, right, bottom] = [0, 0, width, height];
  if (before) {
    const a = new Uint32Array(now.getImageData(0, 0, width, height).data.buffer);
    const b = new Uint32Array(draw(await load(before)).getImageData(0, 0, width, height).data.buffer);
    [left, top, right, bottom] = [width, height, 0, 0];
    for (let place = 0; place < a.length; place += 1) {
      if (a[place] === b[place]) continue;
      const x = place % width, y = (place - x) / width;
      [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
    }
    if (right <= left) return null;
    left -= left % 2; top -= top % 2;
  }
  const part = new OffscreenCanvas(right - left, bottom - top);
  part.getContext("2d", { alpha: false }).drawImage(now.canvas, -left, -top);
  const bytes = new Uint8Array(await (await part.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { x: left, y: top, width: right - left, height: bottom - top, webp: btoa(text) };
}"""


@dataclass(frozen=True)
class Frame:
    x: int
    y: int
    width: int
    height: int
    data: bytes
    milliseconds: int


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
        run, told = story(Path(folder))
        frames = asyncio.run(filmed(url, run, told))
    OUT.write_bytes(animation(frames))
    size = OUT.stat().st_size
    seconds = sum(one.milliseconds for one in frames) / 1000
    print(f"{OUT}: {len(frames)} frames, {size:,} bytes, {seconds:.0f} s")
    assert size < MOST_BYTES, f"more than {MOST_BYTES:,} bytes: lower QUALITY"


@contextmanager
def served(data: Path) -> Iterator[str]:
    line = [*TEMPER, "demo", "--data", str(data), "--port", "0", "--speed", PACE]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def story(data: Path) -> tuple[str, list[Recorded]]:
    """The run, and what is shown of it, once the item has ended."""
    store = EventStore(open_and_migrate_database(data / "temper.sqlite"))
    while not (runs := store.list_started_unended_runs()):
        time.sleep(0.5)
    while not any(ended(one) for one in store.read_events(runs[0], kinds=["item.passed", "item.escalated"])):
        time.sleep(1)
    return runs[0], list(chosen(list(store.read_events(runs[0]))))


def ended(one: Recorded) -> bool:
    return isinstance(one.event, ItemPassed | ItemEscalated) and one.event.rule == RULE


def chosen(events: list[Recorded]) -> Iterator[Recorded]:
    begin = next(place for place, one in enumerate(events) if begins(one))
    last = next(place for place, one in enumerate(events) if ended(one))
    turn: list[Recorded] = []
    for one in events[begin : last + 1]:
        if isinstance(one.event, TurnDelta):
            turn.append(one)
            continue
        yield from turn[:: max(1, len(turn) // DELTAS)][:DELTAS]
        turn = []
        if get_event_kind(one.event) in HOLD:
            yield one


def begins(one: Recorded) -> bool:
    return get_event_kind(one.event) == "item.started" and getattr(one.event, "rule", "") == RULE


async def filmed(url: str, run: str, told: list[Recorded]) -> list[Frame]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"], env=surroundings())
        try:
            return await frames_of(browser, f"{url}/runs/{run}", told)
        finally:
            await browser.close()


async def frames_of(browser: Browser, address: str, told: list[Recorded]) -> list[Frame]:
    page = await browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="dark", reduced_motion="reduce"
    )
    bench = await browser.new_page()
    frames: list[Frame] = []
    before = ""
    for one in told:
        await page.goto(f"{address}?at={one.seq}#theatre")
        png = base64.b64encode(await page.screenshot()).decode()
        part: dict[str, Any] | None = await bench.evaluate(CROP, [png, before, QUALITY])
        milliseconds = HOLD.get(get_event_kind(one.event), QUICK)
        if part:
            data = base64.b64decode(part.pop("webp"))
            frames.append(Frame(**part, data=data, milliseconds=milliseconds))
            before = png
        elif frames:
            frames[-1] = Frame(**{**vars(frames[-1]), "milliseconds": frames[-1].milliseconds + milliseconds})
    return frames


def animation(frames: list[Frame]) -> bytes:
    """RFC 9649: a canvas, how often it is played, and each frame at its place."""
    extended = struct.pack("<B3x", 0x02) + u24(WIDTH - 1) + u24(HEIGHT - 1)
    forever = struct.pack("<IH", 0xFF0E1319, 0)
    parts = chunk(b"VP8X", extended) + chunk(b"ANIM", forever)
    for one in frames:
        place = u24(one.x // 2) + u24(one.y // 2) + u24(one.width - 1) + u24(one.height - 1)
        overwrites = b"\x02"
        parts += chunk(b"ANMF", place + u24(one.milliseconds) + overwrites + bitstream(one.data))
    return b"RIFF" + struct.pack("<I", len(parts) + 4) + b"WEBP" + parts


def bitstream(webp: bytes) -> bytes:
    """The picture's own chunk, out of a still file."""
    place = 12
    while place < len(webp):
        name, size = webp[place : place + 4], struct.unpack_from("<I", webp, place + 4)[0]
        if name in (b"VP8 ", b"VP8L"):
            return webp[place : place + 8 + size + size % 2]
        place += 8 + size + size % 2
    raise AssertionError("the browser gave no picture")


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def u24(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


if __name__ == "__main__":
    main()
