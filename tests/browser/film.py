"""Twelve pictures of an open page around faults, each named by its clock: python -m tests.browser.film FOLDER"""

import asyncio
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
        await expect(self._page.locator("#feed")).to_contain_text("the run goes on")
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
                await expect(self._page.locator("#feed")).to_contain_text("the run goes on")
                await self.take_picture("run at another node")

    async def _expect_live(self) -> None:
        await expect(self._page.locator("#liveness")).to_have_text("LIVE", timeout=60_000)


async def film_all(folder: Path) -> None:
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
            await chromium.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(film_all(target))
