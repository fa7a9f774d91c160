"""Twelve pictures of an open page around faults: python -m tests.browser.film FOLDER [SHEET.webp]

Each is named by its clock and by the seconds from the fault to its words. The sheet has all of them, for the docs.
"""

import asyncio
import base64
import sys
import tempfile
import time
from pathlib import Path

from playwright.async_api import Page, async_playwright, expect

from tests.browser.conftest import QUIET
from tests.browser.shown_faults import FAULTS, NO_DATABASE, kill_server, measure_words, order_run, strike_fault
from tests.chromium import program, surroundings
from tests.postgres import FOR_SPEED, new_database, postgres
from tests.served import Server, served

PACE = ("--speed", "1")
_STYLE = "body{margin:0;background:#111;color:#eee;font:22px sans-serif;display:grid;gap:16px;padding:16px;"
_STYLE += "grid-template-columns:repeat(3,1fr)}figure{margin:0}img{width:100%;display:block}figcaption{padding:6px 2px}"
_ENCODE = """async (png) => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.6 })).arrayBuffer());
  return btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(""));
}"""


class Film:
    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder, self._count = page, folder, 0

    async def take_picture(self, what: str, seconds: float | None = None) -> None:
        """Save the page; the name has the seconds from the fault to its words."""
        self._count += 1
        after = "" if seconds is None else f"-after-{seconds:.1f}s"
        name = f"{self._count:02}-{time.strftime('%H-%M-%S')}-{what.replace(' ', '-')}{after}.png"
        await self._page.screenshot(path=self._folder / name)
        print(name, flush=True)

    async def film_faults(self, server: Server) -> None:
        await self._page.goto(server.url)
        await self._expect_live()
        await self.take_picture("calm")
        for fault in FAULTS:
            with strike_fault(fault, server):
                await self.take_picture(fault.name, await measure_words(self._page, fault.words))
            if fault.name == "engines killed":
                await self._page.request.post(f"{server.url}/ops/engines", form={"verb": "start"})
            if fault.name != "server killed":
                await self._expect_live()

    async def film_recovery(self) -> None:
        await self._expect_live()
        await self.take_picture("server started again", await measure_words(self._page, "LIVE"))
        await expect(self._page.locator("#feed")).to_contain_text("resumed the run")
        await self.take_picture("run goes on")

    async def film_nodes(self, data: Path) -> None:
        with postgres(*FOR_SPEED) as database:
            shared = {"TEMPER_DATABASE_URL": new_database(database.address)}
            with served(data, *PACE, environment=shared) as first:
                run = await order_run(self._page, first)
                await self._page.goto(f"{first.url}/runs/{run}")
                await expect(self._page.locator("#feed")).to_contain_text("taken up", timeout=60_000)
                database.end()
                await self.take_picture("database gone", await measure_words(self._page, NO_DATABASE))
                database.start()
                await self._expect_live()
                await self.take_picture("database back")
                for _ in kill_server(first):
                    seconds = await measure_words(self._page, "No connection to the server since")
                    await self.take_picture("node killed", seconds)
            with served(data, *PACE, environment=shared) as second:
                await self._page.goto(f"{second.url}/runs/{run}")
                await expect(self._page.locator("#feed")).to_contain_text("resumed the run")
                await self.take_picture("run at another node")

    async def _expect_live(self) -> None:
        await expect(self._page.locator("#liveness")).to_have_text("LIVE", timeout=60_000)


def list_figures(folder: Path) -> list[str]:
    """Return each picture of the folder in HTML, with its name as caption."""
    figures = []
    for one in sorted(folder.glob("*.png")):
        words = one.stem.split("-", 1)[1].replace("-after-", ", told after ").replace("-", ":", 2).replace("-", " ")
        source = base64.b64encode(one.read_bytes()).decode()
        figures.append(f'<figure><img src="data:image/png;base64,{source}"><figcaption>{words}</figcaption></figure>')
    return figures


async def assemble_sheet(page: Page, figures: list[str]) -> bytes:
    """Return all pictures on one sheet, as WebP."""
    await page.set_viewport_size({"width": 2200, "height": 2000})
    await page.set_content(f"<style>{_STYLE}</style>{''.join(figures)}")
    png = await page.screenshot(full_page=True)
    return base64.b64decode(await page.evaluate(_ENCODE, base64.b64encode(png).decode()))


async def film_all(folder: Path) -> bytes:
    """Film everything into the folder and return the sheet."""
    with tempfile.TemporaryDirectory() as place:
        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=program(), args=list(QUIET), env=surroundings())
            film = Film(await chromium.new_page(viewport={"width": 1440, "height": 900}), folder)
            data = Path(place) / "data"
            with served(data, *PACE, command="demo") as server:
                await film.film_faults(server)
            with served(data, *PACE, command="demo", port=server.port):
                await film.film_recovery()
            await film.film_nodes(Path(place) / "shared")
            sheet = await assemble_sheet(await chromium.new_page(), list_figures(folder))
            await chromium.close()
            return sheet


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    filmed = asyncio.run(film_all(target))
    for wanted in sys.argv[2:3]:
        Path(wanted).write_bytes(filmed)
