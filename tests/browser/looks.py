"""How a page looks, as a grid of grey levels that is kept as text: what is compared, and what may differ."""

import base64
from pathlib import Path

from playwright.async_api import Page

KEPT = Path(__file__).parents[1] / "data" / "looks"
COLUMNS, ROWS = 48, 30
LEVELS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"
"""Four of 256 grey levels each."""
CHANGED = 3
"""Levels by which a cell of the grid differs visibly. Another digit or a moved letter changes a cell by less."""
MOST_CHANGED = 0.015
"""The share of all cells that may differ visibly."""
SIZES = ((1440, 900), (1920, 1080), (2560, 1440), (390, 844), (1100, 800))
SCHEMES = ("dark", "light")
CALM = """
  *, *::before, *::after { animation: none !important; transition: none !important; }
  * { caret-color: transparent !important; }
  canvas, .swim, .axis, .rail, .spark, .strip-tip { visibility: hidden !important; }
"""
"""What shows time passing keeps its room and is not drawn."""
SET_CALM = """(rules) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  document.adoptedStyleSheets = [sheet];
}"""
SETTLED = """async () => {
  await document.fonts.ready;
  await new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready)));
}"""
FONT = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  return ["system-ui", "monospace"].map((font) => {
    pen.font = `100px ${font}`;
    return Math.round(pen.measureText("The quick brown fox 0123456789").width);
  });
}"""
DEJAVU = [1678, 1806]
"""Widths by which the fonts of the kept grids are known."""
MEASURE = """async ([png, columns, rows]) => {
  const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = bitmap, pen = new OffscreenCanvas(width, height).getContext("2d");
  pen.drawImage(bitmap, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  const sums = new Float64Array(columns * rows), counts = new Float64Array(columns * rows);
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = Math.floor((y * rows) / height) * columns;
    for (let x = 0; x < width; x += 1, at += 4) {
      const cell = row + Math.floor((x * columns) / width);
      sums[cell] += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
      counts[cell] += 1;
    }
  }
  return [...sums].map((one, cell) => one / counts[cell]);
}"""


async def take_grid(page: Page, bench: Page, besides: str = "") -> list[str]:
    """Return the rows of the page's grid. `bench` is an empty page that measures pictures; `besides` are more rules."""
    await page.evaluate(SET_CALM, CALM + besides)
    await page.evaluate(SETTLED)
    picture = base64.b64encode(await page.screenshot()).decode()
    means = await bench.evaluate(MEASURE, [picture, COLUMNS, ROWS])
    text = "".join(LEVELS[min(len(LEVELS) - 1, int(one * len(LEVELS) / 256))] for one in means)
    return [text[at : at + COLUMNS] for at in range(0, len(text), COLUMNS)]


def measure_change(kept: list[str], seen: list[str]) -> float:
    """Return the share of cells that differ visibly."""
    pairs = list(zip("".join(kept), "".join(seen), strict=True))
    return sum(abs(LEVELS.index(one) - LEVELS.index(other)) >= CHANGED for one, other in pairs) / len(pairs)


def draw_change(kept: list[str], seen: list[str]) -> str:
    """Return a map of the page with a # for each cell that differs visibly."""
    rows = (
        "".join(
            "#" if abs(LEVELS.index(a) - LEVELS.index(b)) >= CHANGED else "." for a, b in zip(one, other, strict=True)
        )
        for one, other in zip(kept, seen, strict=True)
    )
    return "\n".join(rows)


def read_kept(moment: str) -> dict[str, list[str]]:
    """Return the kept grids of a moment by size and scheme."""
    file = KEPT / f"{moment}.txt"
    parts = file.read_text().split("\n\n") if file.exists() else []
    return {title: rows for title, *rows in (part.strip().split("\n") for part in parts if part.strip())}


def keep_grids(moment: str, grids: dict[str, list[str]]) -> None:
    text = "\n\n".join("\n".join([title, *rows]) for title, rows in grids.items())
    (KEPT / f"{moment}.txt").write_text(f"{text}\n")
