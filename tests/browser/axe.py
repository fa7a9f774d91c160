"""Axe, put once into each page that is loaded: half a megabyte, which every page would compile and optimise anew."""

from axe_playwright_python.base import AXE_SCRIPT

ALL = {"resultTypes": ["violations"]}
OF_COLOURS = {**ALL, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""Axe's rules that a colour scheme can break."""
SIZES = ((1440, 900), (390, 844))


async def violations(page, rules=ALL):
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    return await page.evaluate("async (rules) => (await axe.run(rules)).violations", rules)


async def sizes_and_schemes(page):
    """In each size and scheme nothing is found; in the second scheme, what colours can break is asked. Yields sizes."""
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for scheme, rules in (("dark", ALL), ("light", OF_COLOURS)):
            await page.emulate_media(color_scheme=scheme)
            found = await violations(page, rules)
            assert found == [], (page.url, width, scheme, [one["nodes"] for one in found])
        yield width
