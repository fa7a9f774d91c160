"""One message that replaces the one before it, for whoever watches."""

import asyncio

from app.web.stream.announcements import Announcements
from app.web.stream.viewer import Viewer


async def test_a_viewer_gets_the_newest_message_first_and_each_change_once():
    got, arrived = [], asyncio.Event()

    async def send(message):
        got.append(message["body"])
        arrived.set()

    told = Announcements(b"all is well")
    serving = asyncio.create_task(told.serve_viewer(Viewer(send)))
    for content, expected in ((None, b"all is well"), (b"broken", b"broken"), (b"well again", b"well again")):
        if content:
            told.announce(content)
            told.announce(content)
        async with asyncio.timeout(5):
            await arrived.wait()
        arrived.clear()
        assert got[-1] == expected
    serving.cancel()
    assert got == [b"all is well", b"broken", b"well again"]
