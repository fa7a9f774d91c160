"""A host that is slow is nobody else's matter: what waits for it is a thread of its own."""

import asyncio
import gc
import threading

import pytest

from app.errors import EnvironmentUnusable, LeaseLost
from app.events.event_field_types import WriteFile
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.program_sandbox import Confinement
from app.targets.target_thread import TargetThread

ISSUE = WriteFile(path="/etc/issue", content="Kernel \\r on an \\m\n")
POOL = 64
"""More than any default pool has threads."""


class Gate:
    """A step of the host's that waits until it is told to go on."""

    def __init__(self):
        self.begun, self.go_on, self._loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    def __call__(self, *_):
        self._loop.call_soon_threadsafe(self.begun.set)
        self.go_on.wait(30)


@pytest.mark.parametrize("times", [1, 3])
async def test_a_caller_that_is_cancelled_leaves_no_change_running_behind_it(tmp_path, times):
    """The write has begun when the caller is told to go; he goes only once the write has ended."""
    gate = Gate()
    host = FixtureTarget(
        "host", tmp_path, confinement=Confinement("none", ""), step=lambda step: step == "write issue" and gate()
    )
    target = TargetThread(host)
    await target.run_blocking(lambda host: host.prepare())
    doing = asyncio.create_task(
        target.run_blocking(lambda host: host.apply("run.V-1.1", [ISSUE], frozenset({ISSUE.path})))
    )
    await gate.begun.wait()
    for _ in range(times):
        doing.cancel()
        await asyncio.wait([doing], timeout=0.02)
        assert not doing.done()
    gate.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert host.files.read("/etc/issue") == b"Kernel \\r on an \\m\n"
    host.roll_back("run.V-1.1")
    assert host.files.read("/etc/issue") != b"Kernel \\r on an \\m\n"
    await target.close()


async def test_however_many_hosts_are_slow_the_pool_that_all_share_is_free(tmp_path):
    hosts = [TargetThread(FixtureTarget("host", tmp_path)) for _ in range(POOL)]
    gates = [Gate() for _ in hosts]
    waiting = [asyncio.create_task(host.run_blocking(gate)) for host, gate in zip(hosts, gates, strict=True)]
    for gate in gates:
        await gate.begun.wait()
    assert await asyncio.to_thread(lambda: "written") == "written"
    for gate in gates:
        gate.go_on.set()
    await asyncio.gather(*waiting)


async def test_one_thing_at_a_time_is_done_on_a_host(tmp_path):
    target, gate, said = TargetThread(FixtureTarget("host", tmp_path)), Gate(), []
    first = asyncio.create_task(target.run_blocking(gate))
    await gate.begun.wait()
    second = asyncio.create_task(target.run_blocking(lambda host: said.append(host.name)))
    await asyncio.wait([second], timeout=0.02)
    assert said == []
    gate.go_on.set()
    await asyncio.gather(first, second)
    assert said == ["host"]


async def let_go_of(tmp_path, ends_by, expected=()):
    """A caller that is cancelled, while what he asked for goes on and then ends so."""
    target, gate = TargetThread(FixtureTarget("host", tmp_path), expected), Gate()

    def work(_):
        gate()
        raise ends_by

    doing = asyncio.create_task(target.run_blocking(work))
    await gate.begun.wait()
    doing.cancel()
    await asyncio.wait([doing], timeout=0)
    gate.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await doing
    del doing
    gc.collect()  # what nobody heard of is told when it is forgotten
    await target.close()


async def test_that_a_host_is_another_nodes_by_the_time_that_it_is_let_go_of_is_no_news(tmp_path, caplog):
    await let_go_of(tmp_path, LeaseLost("host"))
    assert caplog.records == []


async def test_a_database_that_is_away_by_then_is_told_without_a_traceback(tmp_path, caplog):
    await let_go_of(tmp_path, ConnectionError("SELECT secret"), (ConnectionError,))
    (told,) = caplog.records
    assert (told.error, told.exc_info) == ("ConnectionError", None)
    assert "secret" not in told.getMessage()


async def test_what_else_ends_what_was_let_go_of_is_told_in_a_line(tmp_path, caplog):
    await let_go_of(tmp_path, EnvironmentUnusable("host does not answer"))
    [told] = caplog.records
    assert told.getMessage() == "what was let go of was not seen through: host does not answer"
    assert not told.exc_info
