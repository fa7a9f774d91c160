"""Takes the pictures of docs/ from the running product: python .ci/pictures.py URL RUN SEQ"""

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import async_playwright

HERE = Path(__file__).parent.parent / "docs" / "pictures"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


async def take(url: str, run: str, seq: str) -> None:
    shots = {
        "mission": (f"/runs/{run}?at={seq}", 1440, 900, "dark"),
        "mission-light": (f"/runs/{run}?at={seq}", 1440, 900, "light"),
        "mission-phone": (f"/runs/{run}?at={seq}", 390, 844, "dark"),
        "item": (f"/runs/{run}/items/V-257985", 1440, 900, "dark"),
        "operator": ("/ops", 1440, 900, "dark"),
        "runs": ("/runs", 1440, 500, "dark"),
    }
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        for name, (path, width, height, scheme) in shots.items():
            page = await browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            await page.goto(url + path, wait_until="load")
            await page.screenshot(path=HERE / f"{name}.png")
        await browser.close()


asyncio.run(take(*sys.argv[1:4]))
