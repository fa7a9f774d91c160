"""While requests are answered and runs are worked on, the event loop itself waits for nothing and nobody."""

import asyncio
import inspect
import os
import re
import time
from contextlib import contextmanager, suppress

import httpx
import pytest
from fastapi.routing import APIRoute

from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.lineups.reader import read_lineup, require_lineup_path
from app.main import create_app
from app.targets import host_registry
from app.targets.effects.too_strict_values import load_bounds
from app.web.deps import TheSession
from app.web.routes import ROUTES
from tests.targets.ssh.host import ssh_host
from tests.waiting import LONGEST, watching_the_loop
from tests.web.api.inside import finished, wait_for_end

KNOWN = {
    "host": "fixture",
    "engine": "gemma-31b",
    "rule": "V-257820",
    "name": "simulated",
    "skill": "stig",
    "document": "operator",
}
APART = ("/api/v1/runs/{run}/stream", "/runs/{run}/page", "/runs/{run}/replay")
"""Streams of a run that has ended: they end, too."""
FOR_EVER = ("/ops/stream", "/inbox/stream", "/api/v1/stream", "/api/v1/samples/stream")
HANDED_ON = "/sign-in/oidc/back"
"""Asks the provider first, and gives its session to a thread."""
OFTEN = 0.01


def paths(application, run):
    """Every address that can be read and whose parts are known here."""
    for route in application.router.routes:
        names = re.findall(r"{(\w+)", getattr(route, "path", "{?"))
        if getattr(route, "path", "") in FOR_EVER:
            continue
        if "GET" in (getattr(route, "methods", None) or ()) and {"run", *KNOWN} >= set(names):
            yield route.path_format.format(run=run, **KNOWN) + ("?speed=1000" if route.path.endswith("/replay") else "")


async def test_no_address_that_is_read_holds_up_the_loop(tmp_path):
    async with finished(tmp_path / "data") as (_, application, run, http):
        read = list(paths(application, run))
        assert {path.format(run=run) for path in APART} <= {path.partition("?")[0] for path in read}
        for path in read:
            await http.get(path)  # FastAPI reads an endpoint's source at its first call, Jinja a template
            with watching_the_loop() as watch:
                assert (await http.get(path)).status_code < 500, path
            assert (watch.waited, watch.long) == ([], []), path


def test_no_route_of_the_loop_s_own_thread_takes_a_database_session():
    own = [route for route in ROUTES if isinstance(route, APIRoute) and inspect.iscoroutinefunction(route.endpoint)]
    assert len(own) > 10
    assert [route.path for route in own if TheSession in inspect.get_annotations(route.endpoint).values()] == [
        HANDED_ON
    ]


@contextmanager
def answering_when_the_loop_says_so(host):
    """Each login and each script on the host waits at a pipe that the loop's thread alone opens: no line is slower.

    Whatever waited for the host on that thread would wait for ever.
    """
    gate, loop = host.folder / "talk", asyncio.get_running_loop()
    os.mkfifo(gate)
    let_through, timer = [], None

    def look():
        nonlocal timer
        with suppress(OSError):  # ENXIO: nobody asks
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
            let_through.append(gate)
        timer = loop.call_later(OFTEN, look)

    look()
    yield let_through
    timer.cancel()
    gate.unlink()


@pytest.mark.timeout(300)
async def test_a_whole_run_over_a_slow_line_holds_up_the_loop_nowhere(tmp_path):
    settings = Settings(data=tmp_path / "data", speed=0)
    with ssh_host(tmp_path / "there") as host:
        host_registry.register_host(settings.hosts_folder, "web", host.endpoint(), host.known_host, "SHA256:x")
        async with open_runtime(settings, load_lineup(settings)) as runtime:
            http = httpx.AsyncClient(transport=httpx.ASGITransport(create_app(runtime)), base_url="http://localhost")
            unknown = {"host": "web", "rules": "V-0", "mode": "auto"}
            await http.get("/parameters?skill=zz")
            await http.post("/runs", data=unknown)
            await http.post("/api/v1/runs", json=unknown)
            load_bounds()  # read once in a process
            with answering_when_the_loop_says_so(host) as asked, watching_the_loop() as watch:
                assert (await http.post("/runs", data=unknown)).status_code == 422
                taken = await http.post("/api/v1/runs", json={"host": "web", "rules": ["V-257981"], "mode": "auto"})
                run = taken.json()["id"]
                row = await wait_for_end(runtime, run)
    assert (row.state, row.passed) == ("finished", 1), row.reason
    assert len(asked) > 20, "the host was asked by another way"
    assert (watch.waited, watch.long) == ([], [])


async def test_what_holds_up_the_loop_would_be_found():
    with watching_the_loop() as watch:
        read_lineup(require_lineup_path("simulated"))
        asyncio.get_running_loop().call_soon(_work)
        await asyncio.sleep(0)
        await asyncio.to_thread(read_lineup, require_lineup_path("simulated"))
    assert {one.partition(" ")[0] for one in watch.waited} == {"open", "os.scandir"}
    assert len(watch.long) == 1


def _work():
    until = time.thread_time() + 1.5 * LONGEST
    while time.thread_time() < until:
        pass
