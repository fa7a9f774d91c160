"""What every page's header says of health, when it is rendered and while it stays open."""

import asyncio
import re

from app.events.kinds import EngineState
from app.web.pages.header_badges import InboxWatch
from app.web.stream.viewer_connection import Viewer
from tests.runs.doors import house

DEAD = (1000.0, EngineState(engine="gemma-31b", state="dead", detail="gone"))


def read_badge(page):
    return re.search(r'<b id="health-badge">(.*?)</b>', page)[1]


async def test_the_header_of_every_page_names_what_is_broken(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at = float("inf")
        for path in ("/hosts", "/inbox", "/runs"):
            assert read_badge((await made.http.get(path)).text) == "", path
            made.board.states["gemma-31b"] = DEAD
            assert read_badge((await made.http.get(path)).text) == "✗ ENGINE DOWN", path
            made.board.states.clear()
        made.board.states["gemma-31b"] = (1000.0, EngineState(engine="gemma-31b", state="degraded", detail="slow"))
        made.writer.stalled_seconds = 9.0
        assert read_badge((await made.http.get("/runs")).text) == "✗ LOG STALLED", "what stops work comes first"


async def test_a_stranger_is_not_told_what_is_broken(tmp_path):
    async with house(tmp_path, sign_in=True) as made:
        made.board.states["gemma-31b"] = DEAD
        assert read_badge((await made.http.get("/sign-in")).text) == ""


async def test_an_open_page_is_told_with_the_number_of_its_inbox(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at = float("inf")
        heard = asyncio.Queue()

        async def take_message(message):
            heard.put_nowait(message["body"].decode())

        watch = InboxWatch(made.application.state.decisions, made)
        watch.every = 0.01
        watch.start()
        serving = asyncio.create_task(watch.serve_viewer(Viewer(take_message)))
        async with asyncio.timeout(30):
            assert 'hx-target="#health-badge" hx-swap="innerHTML"></hx-partial>' in await heard.get()
            made.board.states["gemma-31b"] = DEAD
            while "✗ ENGINE DOWN" not in await heard.get():
                pass
        serving.cancel()
        await watch.close()
