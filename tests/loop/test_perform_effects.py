"""Effects that need no role: what each appends to the log, and what is waited for."""

import asyncio
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from app.engines.queue import EngineQueue
from app.errors import ConnectionLost, EnvironmentUnusable
from app.events import kinds
from app.events.event_field_types import Lesson
from app.events.log_writer import RunLog
from app.loop import effects, perform
from app.loop.perform import perform_effect
from app.loop.run_in_progress import RoleSeat, Run, RunServices
from app.loop.state import RunState, fold_events
from app.targets.target_thread import TargetThread
from tests.evidence.logs import chain, started
from tests.loop.playing import PROPOSED, SOUND, pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A"), rule("B"), rule("C")])
AT = {"rule": "A", "attempt": 1}
SCOPED = kinds.RunScoped(order=("A", "B", "C"), compliant=(), undecided=())
UNSAFE = "has no proposal that is safe here"
ITEM = (kinds.ItemStarted(rule="A", title="", category="II"), kinds.AttemptStarted(**AT, lessons=()))


class Host:
    """A host that is there, or whose way to it has this fault."""

    name, simulated = "h", True

    def __init__(self, fault=None):
        self._fault = fault

    def assert_usable(self):
        if self._fault:
            raise self._fault

    def compute_digest(self):
        return "digest"

    def close(self):
        pass


def begin(*events, seats=None, host=None, **more):
    kept = Kept()
    services = RunServices(SKILL, TargetThread(host or Host()), None, seats or {}, "w", **more)
    run = Run(RunState(), RunLog("r", kept), services)
    run.append(request(SKILL), started(probes=SOUND), SCOPED, *events)
    return run, kept.lines


async def perform_one(effect, *events, **more):
    run, lines = begin(*events, **more)
    before = len(lines)
    await perform_effect(run, effect)
    await run.services.target.close()
    return [one.event for one in lines[before:]]


@pytest.mark.parametrize(
    ("effect", "events", "told"),
    [
        (effects.StartItem("B"), (), kinds.ItemStarted(rule="B", title="B", category="II")),
        (effects.CloseItem("A", "passed"), (), kinds.ItemPassed(rule="A", attempts=0)),
        (effects.CloseItem("A", "skipped", "r", "w1"), (), kinds.ItemSkipped(rule="A", reason="r", waiver="w1")),
        (effects.CloseItem("A", "deferred", "r"), (), kinds.ItemDeferred(rule="A", reason="r")),
        (effects.CloseItem("A", "escalated", "r"), ITEM, kinds.ItemEscalated(rule="A", reason="r", question=UNSAFE)),
        (effects.FailAttempt("c", "r"), ITEM, kinds.AttemptFailed(**AT, cause="c", reason="r")),
        (effects.Halt("r"), (), kinds.RunFailed(reason="r")),
        (
            effects.Stop(),
            (kinds.RunStopRequested(by="ada", reason="enough"),),
            kinds.RunStopped(by="ada", reason="enough", tree="digest"),
        ),
    ],
)
async def test_an_effect_without_a_role_is_one_line_of_the_log(effect, events, told):
    assert await perform_one(effect, *events) == [told]


async def test_a_turn_that_was_cut_off_is_closed_by_its_name():
    (told,) = await perform_one(effects.CloseCrashedTurn("t7"))
    assert (type(told), told.turn) == (kinds.TurnInterrupted, "t7")


async def test_a_failed_attempt_names_the_fix_that_it_repeated():
    change = kinds.ActionProposed(
        **AT, actions=PROPOSED[0].actions, note="", fingerprint="f", diff="", replayed="r0.A.1"
    )
    (told,) = await perform_one(effects.FailAttempt("c", "r"), *ITEM, change)
    assert told.replayed == "r0.A.1"


async def test_a_finished_run_counts_its_items_by_how_they_ended():
    ends = (
        kinds.ItemPassed(rule="A", attempts=1),
        kinds.ItemSkipped(rule="B", reason="", waiver="w1"),
        kinds.ItemDeferred(rule="C", reason=""),
    )
    (told,) = await perform_one(effects.Finish(), *ends)
    assert (told.passed, told.waived, told.deferred, told.skipped, told.escalated) == (1, 1, 1, 0, 0)
    assert (told.tree, told.regressions) == ("digest", ())


def verdict(name, phase, word):
    return kinds.VerdictGiven(rule=name, phase=phase, word=word, evidence="", scanner="")


@pytest.mark.parametrize(
    ("before", "end", "after", "regressed"),
    [
        ("pass", None, "fail", True),
        ("pass", None, "error", True),
        ("pass", None, "pass", False),
        ("pass", None, "notapplicable", False),
        ("fail", None, "fail", False),
        ("fail", kinds.ItemPassed(rule="A", attempts=1), "fail", True),
        ("fail", kinds.ItemEscalated(rule="A", reason=""), "fail", False),
    ],
)
def test_what_passed_before_or_during_a_run_and_fails_at_its_end_is_a_regression(before, end, after, regressed):
    events = [request(SKILL), started(), SCOPED, verdict("A", "opening", before), *([end] if end else [])]
    state = fold_events(chain([*events, verdict("A", "closing", after), verdict("B", "closing", "fail")]))
    assert perform.find_rules_passed_then_failing_at_end(state) == (("A",) if regressed else ())


def test_the_newest_lessons_of_this_run_come_first_and_each_is_told_once():
    def learn(name, advice=""):
        return Lesson(id=name, rule="A", mechanism="", environment="", advice=advice)

    own, known = [learn("1"), learn("2"), learn("3")], [learn("k"), learn("2"), learn("l")]
    assert [one.id for one in perform._merge_lessons(own, known)] == ["3", "2", "1", "k"]
    assert [one.id for one in perform._merge_lessons([], known)] == ["k", "2", "l"]


class Replica:
    def __init__(self, ready):
        self.base_url, self._ready, self.asked = "http://e", ready, []

    async def is_ready(self, model):
        self.asked.append(model)
        return self._ready


def take_seats(*ready, engine="e"):
    seat = RoleSeat("worker", engine, "m", tuple(map(Replica, ready)), 1, 1, 0.0, queue=EngineQueue())
    return {
        "worker": seat,
        "sentry": RoleSeat("sentry", "other", "n", (Replica(False),), 1, 1, 0.0, queue=EngineQueue()),
    }


AWAY = kinds.RunWaiting(cause="engine", reason="", engine="e")
FULL = kinds.RunWaiting(cause="storage", reason="")


@pytest.mark.parametrize(
    ("waiting", "more", "over"),
    [
        (AWAY, {"seats": take_seats(False, True)}, True),
        (AWAY, {"seats": take_seats(False, False)}, False),
        (AWAY, {"seats": take_seats(True, engine="another")}, True),
        (FULL, {"host": Host()}, True),
        (FULL, {"host": Host(ConnectionLost("gone"))}, False),
        (FULL, {"host": Host(OSError("no space left"))}, True),
        (FULL, {"host": Host(EnvironmentUnusable("not ours"))}, True),
    ],
)
async def test_a_fault_is_over_once_an_engine_or_the_host_can_be_used_again(waiting, more, over):
    run, _ = begin(**more)
    assert await perform._is_fault_over(run, waiting) == over
    await run.services.target.close()
    if "seats" in more and waiting is AWAY:
        assert all(one.asked in (["m"], []) for one in more["seats"]["worker"].replicas)
        assert more["seats"]["sentry"].replicas[0].asked == [], "another engine is not asked"


async def test_a_wait_for_a_person_ends_with_a_command_or_at_its_time():
    run, _ = begin(clock=lambda: 100.0)
    for until in (90.0, 100.0):
        await asyncio.wait_for(perform_effect(run, effects.Wait(until)), 5)
    run.nudged.set()
    for until in (None, 1e9):
        run.nudged.set()
        await asyncio.wait_for(perform_effect(run, effects.Wait(until)), 5)
        assert not run.nudged.is_set()
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_what_was_waited_for_is_over_when_it_is_said_to_be(monkeypatch):
    monkeypatch.setattr(perform, "FIRST_PAUSE", 0.001)
    run, lines = begin(kinds.RunPaused(by="ada"), FULL)
    await perform_effect(run, effects.WaitOut())
    assert isinstance(lines[-1].event, kinds.RunWaitEnded)
    assert run.state.waiting is None
    await run.services.target.close()


async def test_the_scope_of_a_run_is_what_its_opening_scan_found():
    words = {"A": "fail", "B": "pass", "C": "error"}
    told = await perform_one(effects.Scope(), *(verdict(name, "opening", word) for name, word in words.items()))
    assert told == [kinds.RunScoped(order=("A",), compliant=("B",), undecided=("C",))]


@pytest.mark.parametrize(("keep", "since"), [(True, ["last"]), (False, [])])
async def test_what_held_at_the_end_of_the_last_run_and_fails_now_has_drifted(keep, since):
    run, lines = begin(history=SimpleNamespace(read_last_run_and_passed_rules=lambda: ("last", frozenset({"A", "B"}))))
    run.append(replace(request(SKILL), keep=keep), verdict("A", "opening", "fail"), verdict("C", "opening", "fail"))
    await perform_effect(run, effects.Scope())
    found = [one.event for one in lines if isinstance(one.event, kinds.DriftFound)]
    assert found == [kinds.DriftFound(rules=("A",), since=one) for one in since]


async def test_a_scan_ends_with_whoever_waits_for_it():
    began, ended = asyncio.Event(), asyncio.Event()

    class Endless:
        name = "s"

        async def scan(self, *_):
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    host = Host()
    host.files = None
    services = RunServices(SKILL, TargetThread(host), Endless(), {}, "w")
    run = Run(RunState(), RunLog("r", Kept()), services)
    run.append(request(SKILL))
    scan = asyncio.create_task(perform_effect(run, effects.Scan("closing")))
    await began.wait()
    scan.cancel()
    await asyncio.wait({scan})
    await asyncio.wait_for(ended.wait(), 5)
    await services.target.close()
