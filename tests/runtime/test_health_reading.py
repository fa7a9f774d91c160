"""What database, queues and disk say of unended runs, as the judge of faults gets it."""

import asyncio
from types import SimpleNamespace

from msgspec.structs import replace
from sqlmodel import Session

from app.engines.queue import TurnRequest
from app.events.kinds import (
    ApprovalRequested,
    AttemptStarted,
    RunPaused,
    RunResumed,
    RunWaiting,
    ScanStarted,
    TurnDelta,
    TurnStarted,
)
from app.runtime.health_reading import read_faults
from app.runtime.stalled_run_detection import GRACE, HOST_STEP, STARTING
from app.scanners.openscap.scanner import SECONDS_SILENT
from app.store.leases import LeaseRow
from app.store.nodes import TRIED_FOR
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST

QUEUED, *BEGUN = EVENTS[:7]
TURN = {"turn": "t1", "role": "architect"}
IN_TURN = (
    TurnStarted(
        **TURN, rule=FIRST, attempt=1, purpose="plan", engine="e", model="m", replica=0, max_tokens=9, prompt=("", "")
    ),
    TurnDelta(**TURN, channel="thought", text="so", tokens=1),
)


def badges(made, run=""):
    return [(fault.badge, fault.runs) for fault in read_faults(made, run)]


def work_on(made, *runs):
    """One process took up these runs long ago, and readings of engines are new."""
    made.durable = SimpleNamespace(taken_at=dict.fromkeys(runs, 0.0))
    made.board.polled_at = float("inf")


def put_in(made, run, ago, *events):
    """Log the events, the last of them that many seconds ago."""
    made.append(run, *events, at=made.clock.now() - ago)


async def test_a_run_may_be_silent_for_as_long_as_its_step_may_take(tmp_path):
    async with house(tmp_path) as made:
        work_on(made, "host", "turn", "scan")
        put_in(made, "host", HOST_STEP.seconds + GRACE + 5, QUEUED, *BEGUN)
        put_in(made, "turn", 60 + GRACE - 5, QUEUED, *BEGUN, *IN_TURN)
        put_in(made, "scan", SECONDS_SILENT, QUEUED, BEGUN[0], ScanStarted(phase="opening", rules=300))
        assert badges(made) == [("NO PROGRESS", ("host",))]
        assert badges(made, "turn") == badges(made, "scan") == []
        put_in(made, "late", 60 + GRACE + 5, QUEUED, *BEGUN, *IN_TURN)
        work_on(made, "turn", "late")
        assert badges(made, "late") == [("NO PROGRESS", ("late",))]


async def test_a_run_that_waits_for_a_person_or_for_its_engine_or_is_paused_is_not_silent(tmp_path):
    async with house(tmp_path) as made:
        work_on(made, "asks", "again", "paused", "queue")
        asked = ApprovalRequested(approval="a1", rule=FIRST, attempt=1, binds="", expires=made.clock.now() + 9)
        begun = (QUEUED, *BEGUN, AttemptStarted(rule=FIRST, attempt=1, lessons=()))
        put_in(made, "asks", 9000, *begun, asked)
        put_in(made, "again", 9000, *begun, asked, RunResumed(by="w", after_crash=True))
        put_in(made, "paused", 9000, *begun, RunPaused(by="p"))
        assert badges(made) == []
        put_in(made, "queue", 9000, *begun)
        assert badges(made) == [("NO PROGRESS", ("queue",))]
        made.queues.traffic.unavailable.add("http://e")
        queue = made.queues.get_queue("gemma-31b")
        waits = TurnRequest("fixture", "plan", 1, patience=60)
        async with asyncio.TaskGroup() as group:
            first, second = (group.create_task(_wait_in(queue, waits)) for _ in range(2))
            await asyncio.sleep(0)
            assert badges(made) == [], "its turn waits behind another"
            first.cancel()
            second.cancel()


async def _wait_in(queue, wanted):
    async with queue.hold_turn(["http://e"], wanted):
        await asyncio.Event().wait()


async def test_a_queued_run_is_told_once_its_host_is_free_and_nothing_takes_it_up(tmp_path):
    async with house(tmp_path) as made:
        work_on(made, "first")
        put_in(made, "first", 1, QUEUED, *BEGUN)
        put_in(made, "second", 900, QUEUED)
        put_in(made, "third", 900, QUEUED)
        assert badges(made) == [], "they wait for the host"
        put_in(made, "first", STARTING - 3, EVENTS[-1])
        assert badges(made) == [], "the host became free just now"
        work_on(made)
        put_in(made, "fourth", 900, replace(QUEUED, host="other"))
        put_in(made, "fifth", 900, replace(QUEUED, host="other"))
        assert badges(made) == [("NOT TAKEN UP", ("fourth",))], "one for each host"


async def test_the_page_of_a_run_names_its_wait_and_its_loss_at_once_and_others_after_a_while(tmp_path):
    async with house(tmp_path) as made:
        work_on(made)
        put_in(made, "r1", 3, QUEUED, *BEGUN)
        assert badges(made, "r1") == [("INTERRUPTED", ())]
        assert badges(made) == []
        put_in(made, "r2", 900, QUEUED, *BEGUN, RunWaiting(cause="host", reason="Web does not answer."))
        work_on(made, "r1", "r2")
        assert badges(made, "r2") == [("RUN WAITS", ())]
        (fault,) = read_faults(made)
        assert (fault.runs, fault.text) == (("r2",), "Run r2 on fixture waits: Web does not answer.")


async def test_a_run_that_was_taken_up_just_now_is_not_blamed_for_its_time_in_nobodys_hands(tmp_path):
    async with house(tmp_path) as made:
        work_on(made, "r1")
        put_in(made, "r1", 9000, QUEUED, *BEGUN)
        made.durable.taken_at["r1"] = made.clock.now() - 5
        assert badges(made) == []


async def test_a_run_that_nothing_takes_up_is_told_though_its_host_was_out_of_reach_long_ago(tmp_path):
    async with house(tmp_path) as made:
        work_on(made)
        put_in(made, "r1", 900, QUEUED, *BEGUN)
        for ago, expected in ((TRIED_FOR - 60, []), (TRIED_FOR + 60, [("NOT TAKEN UP", ("r1",))])):
            lease = LeaseRow(name="r1", host="fixture", node="", epoch=2, asked_at=0.0)
            lease.unreached = f"one@{made.clock.now() - ago:.3f}"
            with Session(made.database) as session, session.begin():
                session.merge(lease)
            assert badges(made) == expected
