"""The report on a phone, from the server and as a saved file, and the picture of before and after."""

import pytest

from tests.browser.layout import NO_WIDER, OVERLAPS

CELLS = """(name) => [...document.querySelectorAll(`td[data-name="${name}"]`)].map((one) => {
  const box = one.getBoundingClientRect();
  return box.left >= 0 && box.right <= innerWidth && getComputedStyle(one, "::before").content !== "none";
})"""
"""Whether each cell of a column is in the window, with the column's name before it."""
LABELS = """() => [...document.querySelectorAll(".beforeafter .label")].map((label) => {
  const text = label.getBoundingClientRect();
  const rows = [...document.querySelectorAll(".beforeafter rect")].map((one) => one.getBoundingClientRect());
  const covered = rows.some((row) => Math.min(text.bottom, row.bottom) - Math.max(text.top, row.top) > text.height / 4);
  return [text.height >= 12 && text.right <= innerWidth, covered];
})"""


@pytest.mark.parametrize("width", [390, 360, 720])
async def test_the_report_never_scrolls_sideways(page, shown, tmp_path, width):
    address = f"{shown.url}/api/v1/runs/{shown.runs()[0]}/report.html"
    saved = tmp_path / "report.html"
    saved.write_bytes(await (await page.request.get(address)).body())
    await page.set_viewport_size({"width": width, "height": 844})
    for place in (address, saved.as_uri()):
        await page.goto(place)
        assert await page.evaluate(NO_WIDER), place
        assert await page.evaluate(OVERLAPS) == []


async def test_before_and_after_are_read_on_a_phone_beside_each_rule(page, shown):
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(f"{shown.url}/api/v1/runs/{shown.runs()[0]}/report.html")
    for name in ("Before", "After", "Outcome", "Tokens written"):
        cells = await page.evaluate(CELLS, name)
        assert cells, name
        assert all(cells), name
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}")
    assert await page.evaluate(LABELS) == [[True, False], [True, False]]
