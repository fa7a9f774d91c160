"""The picture of hosts by rules: each kind of cell stands out from its ground, and its sign from the cell."""

from playwright.async_api import expect

NON_TEXT = 3.0
"""The least contrast of a picture's parts, by WCAG 2.2, 1.4.11."""
CONTRASTS = """() => {
  const { colours, ground, ink } = document.querySelector(".picture").picture;
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const contrast = (one, other) => Math.max(light(one) / light(other), light(other) / light(one));
  const cells = Object.entries(colours).filter(([letter]) => letter !== ".");
  return Object.fromEntries(cells.map(([letter, colour]) =>
    [letter, Math.min(contrast(colour, ground), contrast(colour, ink))]));
}"""


async def test_every_cell_of_the_grid_stands_out_in_both_schemes(page, shown):
    for scheme in ("dark", "light"):
        await page.emulate_media(color_scheme=scheme)
        await page.goto(f"{shown.url}/fleet")
        await expect(page.locator(".names li")).to_have_count(1)
        contrasts = await page.evaluate(CONTRASTS)
        assert len(contrasts) == 7
        assert {letter for letter, one in contrasts.items() if one < NON_TEXT} == set(), (scheme, contrasts)
