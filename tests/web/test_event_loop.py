"""While requests are answered and a run is worked on, the event loop itself never waits for the database."""

import asyncio
import re

import pytest
from sqlalchemy import Engine, event

from tests.web.api.inside import finished

KNOWN = {"host": "fixture", "engine": "gemma-31b", "rule": "V-257820", "name": "simulated", "skill": "stig"}
APART = ("/api/v1/runs/{run}/stream", "/runs/{run}/page", "/runs/{run}/replay")
"""Streams of a run that has ended: they end, too."""
FOR_EVER = ("/ops/stream", "/api/v1/stream", "/api/v1/samples/stream")


@pytest.fixture
def asked_on_a_loop():
    """The statements that were sent from a thread that an event loop runs on."""
    found = []

    def sent(_connection, _cursor, statement, *_):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        found.append(" ".join(statement.split())[:100])

    event.listen(Engine, "before_cursor_execute", sent)
    yield found
    event.remove(Engine, "before_cursor_execute", sent)


def paths(application, run):
    """Every address that can be read and whose parts are known here."""
    for route in application.router.routes:
        names = re.findall(r"{(\w+)", getattr(route, "path", "{?"))
        if getattr(route, "path", "") in FOR_EVER:
            continue
        if "GET" in (getattr(route, "methods", None) or ()) and {"run", *KNOWN} >= set(names):
            yield route.path.format(run=run, **KNOWN) + ("?speed=1000" if route.path.endswith("/replay") else "")


async def test_no_statement_is_sent_from_the_thread_of_the_loop(tmp_path, asked_on_a_loop):
    async with finished(tmp_path / "data") as (_, application, run, http):
        assert asked_on_a_loop == [], "the run itself"
        read = list(paths(application, run))
        assert {path.format(run=run) for path in APART} <= {path.partition("?")[0] for path in read}
        for path in read:
            assert (await http.get(path)).status_code < 500, path
            assert asked_on_a_loop == [], path
