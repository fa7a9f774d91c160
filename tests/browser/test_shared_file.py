"""A run in one file, opened from disk without a network: it plays to its end, and finds what was forged in it."""

import base64
import gzip
import json
import re
import subprocess
import sys

import pytest
import pytest_asyncio
from playwright.async_api import expect

from app.events.record import GENESIS, hash_line
from app.evidence.signed_log_in_html_file import MARK, SEALED
from tests.browser.axe import sizes_and_schemes, violations
from tests.browser.test_mission import until
from tests.evidence.played import KEY
from tests.once import built_once

MOST = 1_500_000
"""Bytes of the file of the demo's run, so that it goes with a letter."""
STATE = "document.getElementById('shared-check').dataset.state"


@pytest.fixture(scope="session")
def shared(toured, tmp_path_factory):
    """The file of the run of every rule."""

    def write(folder):
        words = ("share", "", str(folder / "run.html"), "--data", str(toured))
        subprocess.run([sys.executable, "-m", "app", *words], check=True, capture_output=True, timeout=300)

    return built_once(tmp_path_factory, "shared", write) / "run.html"


@pytest_asyncio.fixture(loop_scope="session")
async def opened(browser):
    """A function that opens a file where nothing can be reached; at the end, nothing has gone wrong or been asked."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    page, faults = await context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text))
    page.on("request", lambda one: faults.append(one.url) if not one.url.startswith(("file:", "data:")) else None)

    async def open_file(path):
        await page.goto(path.as_uri())
        await until(page, f"{STATE} !== 'checking'")
        return page

    yield open_file
    assert faults == []


def change_block(path, into, name, change):
    """Write the file anew, with one of its blocks as `change` makes it."""
    content = path.read_bytes()
    found = re.search(rb'id="shared-%s">([^<]*)<' % name.encode(), content)
    plain = base64.b64decode(found[1])
    packed = plain[:2] == b"\x1f\x8b"
    changed = change(gzip.decompress(plain) if packed else plain)
    text = base64.b64encode(gzip.compress(changed) if packed else changed)
    into.write_bytes(content[: found.start(1)] + text + content[found.end(1) :])
    return into


def forge_first_event(lines):
    """With the marks that follow from it, up to the first withheld prompt."""
    texts, previous = lines.split(b"\n"), GENESIS
    first_withheld = next(n for n, text in enumerate(texts) if text.index(b" ") == 64)
    texts[0] = texts[0].replace(b",", b", ", 1)
    for n, text in enumerate(texts[:first_withheld]):
        line = text.partition(b" ")[2]
        previous = hash_line(previous, line)
        texts[n] = previous[:MARK].encode() + b" " + line
    return b"\n".join(texts)


async def test_it_is_small(shared):
    assert 100_000 < shared.stat().st_size < MOST


async def test_it_plays_to_the_end_shows_the_tally_and_is_checked(opened, shared):
    page = await opened(shared)
    assert await page.evaluate(STATE) == "valid"
    await expect(page.locator("#check-badge")).to_have_text("CHECKED")
    await expect(page.locator("#check-lines .unsure")).to_contain_text("Not pinned: the key ")
    await expect(page.locator(".badge.simulated")).to_be_visible()
    await until(page, "document.querySelector('.scrubber canvas') !== null")
    await page.get_by_role("button", name="Open the chart of Tokens large").click()
    await expect(page.get_by_role("dialog", name="Tokens over time, large")).to_be_visible()
    await page.keyboard.press("Escape")
    for words in ("Before: ", "After: "):
        await expect(page.locator(".beforeafter .label", has_text=words)).to_be_visible()
    tally = page.locator(".outcome")
    await expect(tally).to_contain_text(re.compile(r"\d+ of \d+ fixed"))
    end = await page.locator("#ribbon").inner_html()
    await page.locator("#speed").select_option("1")
    await page.locator("#play").click()
    await expect(tally).to_be_hidden()
    await until(page, "document.querySelector('.lane [aria-busy], [aria-busy] .thought') !== null")
    await page.locator("#play").click()
    await expect(page.locator("#play")).to_have_text("▶")
    await page.locator("#speed").select_option("100")
    await page.locator("#play").click()
    await expect(tally).to_be_visible()
    assert await page.locator("#ribbon").inner_html() == end


async def test_a_moment_an_item_and_the_slider_lead_there(opened, shared):
    page = await opened(shared)
    await page.locator(".cell").nth(2).click()
    dialog = page.locator("#shared-item")
    await expect(dialog.locator("h1")).to_contain_text("V-")
    await dialog.get_by_role("button", name="Close").click()
    slider = page.get_by_role("slider")
    await slider.fill(await slider.get_attribute("max"))
    whole = await page.evaluate("Number(document.getElementById('mission').dataset.seq)")
    await slider.evaluate("(one) => { one.value = one.max / 2; one.dispatchEvent(new Event('input')); }")
    await until(page, f"Number(document.getElementById('mission').dataset.seq) < {whole}")
    await page.locator("#to-summary").click()
    await expect(page.locator(".outcome")).to_be_visible()
    await page.locator(".moment").first.click()
    await expect(page.locator(".outcome")).to_be_hidden()
    await page.locator("#play").click()
    await page.locator("a.brand").click()
    await expect(page.locator(".elsewhere")).to_be_visible()


async def test_a_seek_shows_what_playing_shows(opened, shared):
    """Frame by frame or in one jump: the same page."""
    page = await opened(shared)
    both = """async () => {
      const { player } = document.getElementById("mission"), middle = Math.floor(player.frames.last / 2);
      const look = () => document.getElementById("mission").textContent.replace(/\\s+/g, " ");
      await player.seek(player.frames.frames[middle].at, middle);
      const jumped = look();
      await player.seek(0, 0);
      player.frames.rewind(1);
      while (player.frames.next <= middle) await player.tell(player.frames.step());
      return [jumped, look()];
    }"""
    jumped, played = await page.evaluate(both)
    assert jumped == played
    assert len(jumped) > 1000


async def test_a_flipped_byte_is_found_and_its_event_is_named(opened, shared, tmp_path):
    def flip(lines):
        at = lines.index(b'"kind":"item.passed"')
        place = lines.index(b'"rule":"', at) + 10
        return lines[:place] + bytes([lines[place] ^ 1]) + lines[place + 1 :]

    page = await opened(change_block(shared, tmp_path / "flipped.html", "lines", flip))
    assert await page.evaluate(STATE) == "broken"
    await expect(page.locator("#check-badge")).to_have_text("NOT GENUINE")
    await expect(page.locator("#check-lines .fault")).to_have_text(
        re.compile(r"^Event \d+ is not what was recorded: its hash does not follow from event \d+\.$")
    )


async def test_a_wrong_signature_a_changed_picture_and_damage_are_found(opened, shared, tmp_path):
    into = tmp_path / "forged.html"
    forged = {
        "The signature is wrong": ("signature", lambda text: text[:-2] + (b"00" if text[-2:] != b"00" else b"11")),
        "The pictures of the replay are not what was signed": ("show", lambda text: text.replace(b"passed", b"failed")),
        "The events are not what was signed": ("lines", forge_first_event),
        "do not lead to the chain head": ("lines", lambda text: text.rpartition(b"\n")[0]),
    }
    for said, (name, change) in forged.items():
        page = await opened(change_block(shared, into, name, change))
        assert await page.evaluate(STATE) == "broken"
        await expect(page.locator("#check-lines .fault")).to_contain_text(said)


async def test_a_pin_is_held_against_key_and_head(opened, shared):
    page = await opened(shared)
    given = page.locator("#pin")
    text = await page.locator("#check-lines").inner_text()
    head, key = re.search(r"chain head ([0-9a-f]{64})", text)[1], re.search(r"The key ([0-9a-f]{64})", text)[1]
    for pin, said in ((key, "Pinned: the key"), (head, "It does not pin the events"), ("0" * 64, "Neither the key")):
        await given.fill(pin)
        await expect(page.locator("#check-lines li").last).to_contain_text(said)
    assert await page.evaluate(STATE) == "broken"


async def test_a_file_from_before_the_digest_of_its_lines_says_what_is_not_signed(opened, shared, tmp_path):
    signatures, into = [], tmp_path / "older.html"

    def drop_digest(manifest):
        older = json.dumps({**json.loads(manifest), "lines": None, "key": KEY.public}).encode()
        signatures.append(KEY.sign(SEALED + older).encode())
        return older

    change_block(shared, into, "manifest", drop_digest)
    page = await opened(change_block(into, into, "signature", lambda _: signatures[0]))
    assert await page.evaluate(STATE) == "unchecked"
    await expect(page.locator("#check-lines .unsure").first).to_contain_text(
        re.compile(r"its first \d+ events are not")
    )


async def test_it_is_readable_for_everybody(opened, shared):
    page = await opened(shared)
    async for _ in sizes_and_schemes(page):
        pass
    await page.locator(".cell").nth(2).click()
    await expect(page.locator("#shared-item h1")).to_be_visible()
    assert await violations(page) == []
