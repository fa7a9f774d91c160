"""One message that replaces the one before it, for whoever watches."""

import asyncio

from app.web.stream.newest_message_broadcast import LOOKED, Announcements
from app.web.stream.viewer_connection import Viewer


async def test_a_viewer_gets_the_newest_message_first_each_change_once_and_a_sign_of_life_otherwise():
    got, arrived = [], asyncio.Event()

    async def send(message):
        got.append(message["body"])
        arrived.set()

    told = Announcements(b"all is well")
    serving = asyncio.create_task(told.serve_viewer(Viewer(send)))
    said = ((None, b"all is well"), (b"broken", b"broken"), (b"broken", LOOKED), (b"well again", b"well again"))
    for content, expected in said:
        if content:
            told.announce(content)
        async with asyncio.timeout(5):
            await arrived.wait()
        arrived.clear()
        assert got[-1] == expected
    serving.cancel()
    assert got == [b"all is well", b"broken", LOOKED, b"well again"]
