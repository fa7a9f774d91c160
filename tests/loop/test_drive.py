"""A whole run over SSH, in this process: the loop's own thread never asks the host anything."""

import asyncio
import threading

import httpx
import pytest

from app.engines.client import EngineClient
from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionApplied,
    ActionRolledBack,
    ApprovalRequested,
    RunFailed,
    RunFinished,
    RunPaused,
    RunQueued,
    RunResumed,
    RunStopped,
)
from app.events.log_writer import RunLog
from app.loop.drive import drive_run, roll_back_and_fail_run
from app.loop.run_in_progress import RoleSeat, Run, RunServices
from app.loop.state import RunState
from app.skills.stig.pack import STIG
from app.targets.ssh.ssh_target import SshTarget
from app.targets.target_thread import TargetThread
from tests.loop.onfixture import SCANNER, OnFixture, answered
from tests.loop.test_approvals import Kept
from tests.loop.test_change_execution import PARANOID, TURNED_DOWN, Life
from tests.targets.ssh.conftest import host

__all__ = ["host"]

RULE = "V-257981"
"""The Auditor vetoes its first attempt, which is taken back; its second holds."""


class Watched(SshTarget):
    """Notes which thread asked it for what."""

    def __getattribute__(self, name):
        if not name.startswith("_"):
            super().__getattribute__("_asked").append((threading.get_ident(), name))
        return super().__getattribute__(name)

    def __init__(self, *given, **more):
        self._asked = []
        super().__init__(*given, **more)
        self._asked.clear()


class Silent:
    """Nobody says anything to the run."""

    async def list_open_commands(self):
        return []

    async def wait_for_commands(self):
        await asyncio.get_running_loop().create_future()


def seats(http):
    client = EngineClient(http, "http://engine/v1")
    roles = ("architect", "worker", "auditor", "sentry")
    return {role: RoleSeat(role, "e", "m", (client,), 1200, 8192, 0.0) for role in roles}


async def test_nothing_is_asked_of_a_host_on_the_thread_of_the_loop(host, tmp_path):
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "known_hosts").write_text(host.known_host)
    watched = Watched("web", folder, host.endpoint(), timer=60, patience=5)
    target, kept = TargetThread(watched), Kept()
    watched._asked.clear()
    async with httpx.AsyncClient(transport=httpx.MockTransport(answered)) as http:
        means = RunServices(STIG, target, SCANNER, seats(http), "w")
        run = Run(RunState(), RunLog("r", kept), means)
        run.append(
            RunQueued(host="web", skill="stig", rules=(RULE,), mode="auto", budget=Budget(), lineup="l", simulated=True)
        )
        await drive_run(run, Silent())
    asked = list(watched._asked)
    await target.close()
    events = [one.event for one in kept.lines]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].passed == 1, [one for one in events if hasattr(one, "reason") or hasattr(one, "behind")]
    assert {ActionApplied, ActionRolledBack} <= {type(event) for event in events}
    assert {name for _, name in asked} >= {
        "files",
        "read_facts",
        "assess_actions",
        "apply",
        "check_health",
        "describe_drift",
        "compute_digest",
    }
    assert [name for thread, name in asked if thread == threading.get_ident()] == []


async def test_a_run_that_fails_puts_back_the_change_in_hand(tmp_path):
    life = Life(tmp_path / "h", (PARANOID,), mode="auto")
    await life.until(ActionApplied, *TURNED_DOWN)
    assert life.target.files.read(PARANOID.path)
    await roll_back_and_fail_run(life.run, "the scanner is gone")
    assert [type(one) for one in life.events()[-2:]] == [ActionRolledBack, RunFailed]
    assert (life.target.files.read(PARANOID.path), life.target.list_pending()) == (None, [])


async def test_a_command_is_closed_once_the_run_has_recorded_it(tmp_path):
    here = OnFixture(tmp_path)

    async def pause_resume_and_stop():
        await here.kept.until(ApprovalRequested, count=1)
        for verb in ("pause", "resume", "stop"):
            here.person.says(verb)

    await asyncio.gather(here.run(RULE, mode="review"), pause_resume_and_stop())
    assert [type(one) for one in here.events(RunPaused | RunResumed | RunStopped)] == [
        RunPaused,
        RunResumed,
        RunStopped,
    ]
    assert [one.verb for one in here.person.closed][:2] == ["pause", "resume"]


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_run_that_can_hear_no_command_ends_with_that_error_instead_of_waiting_for_one(tmp_path, is_paused):
    here = OnFixture(tmp_path)
    read = here.person.list_open_commands

    async def read_one_that_cannot_be_converted():
        [command] = await read()
        if command.verb == "broken":
            raise ValueError(command.verb)
        return [command]

    here.person.list_open_commands = read_one_that_cannot_be_converted

    async def pause_and_break():
        await here.kept.until(ApprovalRequested, count=1)
        if is_paused:
            here.person.says("pause")
            await here.kept.until(RunPaused, count=1)
        here.person.says("broken")

    with pytest.raises(ValueError, match="broken"):
        async with asyncio.timeout(20):
            await asyncio.gather(here.run(RULE, mode="review"), pause_and_break())
    assert [one.get_name() for one in asyncio.all_tasks() if one.get_name().startswith("work on run")] == []
