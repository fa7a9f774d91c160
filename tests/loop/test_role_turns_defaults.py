"""What stands in for a role that gave no usable answer, and what becomes of an answer that may not count."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from app.engines.queue import EngineQueue
from app.errors import ConnectionLost, EnvironmentUnusable
from app.events.kinds import (
    ActionProposed,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    ItemStarted,
    PlanMade,
    RunScoped,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    VerdictExplained,
)
from app.events.log_writer import RunLog
from app.loop import role_turns
from app.loop.answers import Reflection, Triage
from app.loop.effects import TakeVendors, UseSafeDefault
from app.loop.run_in_progress import RoleSeat, Run, RunServices
from app.loop.state import RunState
from app.resources.vendor_script import LONGEST
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.program_sandbox import Confinement
from app.targets.target_thread import TargetThread
from tests.evidence.logs import started
from tests.loop.playing import FIX, PROPOSED, SHUT_OUT, SOUND, pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A")])
AT = {"rule": "A", "attempt": 1}
CHANGE = ActionProposed(**AT, actions=PROPOSED[0].actions, note="", fingerprint="f", diff="")


def begin(*events, engine="lineup", scanner=None, target=None, vendor=False):
    """A run whose first attempt is under way, and the lines of its log."""
    kept = Kept()
    services = RunServices(SKILL, target or SimpleNamespace(name="h"), scanner, {}, "w")
    run = Run(RunState(), RunLog("r", kept), services)
    scoped = RunScoped(order=("A",), compliant=(), undecided=())
    item, attempt = ItemStarted(rule="A", title="", category="II"), AttemptStarted(**AT, lessons=(), vendor=vendor)
    run.append(replace(request(SKILL), engine=engine), started(probes=SOUND), scoped, item, attempt, *events)
    return run, kept.lines


async def stand_in(purpose, *events, **more):
    run, lines = begin(*events, **more)
    before = len(lines)
    await role_turns.continue_without_answer(run, UseSafeDefault(purpose))
    (told,) = lines[before:]
    return told.event


@pytest.mark.parametrize(
    ("engine", "who"), [("lineup", "The Auditor gave no usable answer"), ("none", "No model is asked")]
)
async def test_without_the_auditor_the_scanners_verdict_stands(engine, who):
    words = f"{who}; the scanner's verdict stands alone."
    told = await stand_in("review", engine=engine)
    assert told == VerdictExplained(**AT, explanation=words, veto=False, reason="")


def probed(probes=SOUND, drift=()):
    return SentryProbed(**AT, probes=probes, drift=drift, log=())


SILENT = "The Sentry gave no usable answer; the probes stand alone."


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ((), SentryClear(**AT, assessment=SILENT)),
        ((probed(),), SentryClear(**AT, assessment=SILENT)),
        ((probed(SHUT_OUT),), SentryAlarm(**AT, reason="agent-login: refused", by="probe")),
        ((probed(drift=("/etc/x changed", "more")),), SentryAlarm(**AT, reason="/etc/x changed", by="probe")),
    ],
)
async def test_without_the_sentry_probes_and_drift_raise_the_alarm(seen, told):
    assert await stand_in("triage", *seen) == told


@pytest.mark.parametrize(
    ("seen", "said", "told"),
    [
        (SOUND, Triage("fine", alarm=False), SentryClear(**AT, assessment="fine")),
        (SOUND, Triage("odd", alarm=True, reason="r"), SentryAlarm(**AT, reason="r", by="sentry")),
        (SHUT_OUT, Triage("fine", alarm=False), SentryAlarm(**AT, reason="agent-login: refused", by="probe")),
    ],
)
def test_a_sentry_may_raise_an_alarm_and_never_call_a_failed_probe_off(seen, said, told):
    assert role_turns._judge_triage(begin(probed(seen))[0], said) == told


FAILED = AttemptFailed(**AT, cause="scanner", reason="")


@pytest.mark.parametrize(
    ("events", "more", "reason"),
    [
        ((CHANGE, FAILED), {"engine": "none"}, "no model is asked"),
        ((CHANGE, FAILED), {"vendor": True}, "the last resort is nobody's here to learn from"),
        (
            (CHANGE, replace(FAILED, cause="engine")),
            {},
            "a role without a usable answer teaches nothing about the host",
        ),
        (
            (replace(CHANGE, replayed=FIX.id), FAILED),
            {},
            "what held elsewhere never came as far as this host: the roles take over",
        ),
        ((CHANGE, FAILED), {}, "the Architect gave no usable reflection"),
        ((), {}, "the Architect gave no usable reflection"),
    ],
)
async def test_without_a_reflection_the_run_goes_on_and_says_why_there_is_none(events, more, reason):
    told = await stand_in("reflect", *events, **more)
    assert (told.decision, told.reason) == ("CONTINUE", reason)


@pytest.mark.parametrize(
    ("events", "banned"),
    [
        ((CHANGE, FAILED), ("f",)),
        ((CHANGE, replace(FAILED, cause="refused")), ("f",)),
        ((CHANGE, replace(FAILED, cause="engine")), ()),
        ((CHANGE, replace(FAILED, cause="over budget")), ()),
        ((CHANGE, replace(FAILED, cause="disapproved")), ("f",)),
        ((FAILED,), ()),
        ((CHANGE,), ()),
    ],
)
async def test_only_what_ran_or_was_refused_and_failed_is_banned(events, banned):
    assert (await stand_in("reflect", *events)).banned == banned


def test_a_lesson_has_the_same_id_whenever_it_is_learnt_again():
    said = Reflection("m", "a", "CONTINUE", environment="e", reason="why")
    first, reflected = role_turns._build_reflection_events(begin()[0], said)
    again, _ = role_turns._build_reflection_events(begin(CHANGE, FAILED)[0], said)
    other, _ = role_turns._build_reflection_events(begin()[0], replace(said, advice="b"))
    lesson = first.lesson
    assert (lesson.rule, lesson.mechanism, lesson.environment, lesson.advice) == ("A", "m", "e", "a")
    assert lesson.id == again.lesson.id != other.lesson.id
    assert len(lesson.id) == 12
    assert reflected == AttemptReflected(**AT, decision="CONTINUE", reason="why", banned=())


@pytest.mark.parametrize(
    ("prompt", "window", "tokens"),
    [(("", ""), 8000, 160), (("x" * 30, "y" * 60), 8000, 190), (("x" * 300, ""), 100, 100)],
)
def test_a_turn_is_estimated_by_its_prompt_its_answer_and_the_window_of_its_engine(prompt, window, tokens):
    seat = RoleSeat("worker", "e", "m", (), 100, window, 0.0, queue=EngineQueue())
    assert role_turns._estimate_turn_tokens(seat, prompt) == tokens


class Content:
    """Content whose script for every rule is this, or that has a fault."""

    name = "s"

    def __init__(self, script):
        self._script = script

    async def fetch_fix_script(self, _rule):
        if isinstance(self._script, Exception):
            raise self._script
        return self._script


UNSHOWABLE = "the content has no script for it that could be shown whole"


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("", AttemptFailed(**AT, cause="refused", reason=UNSHOWABLE)),
        ("x" * (LONGEST + 1), AttemptFailed(**AT, cause="refused", reason=UNSHOWABLE)),
        (EnvironmentUnusable("No content here."), AttemptFailed(**AT, cause="engine", reason="No content here.")),
    ],
)
async def test_a_script_of_the_vendor_that_cannot_be_shown_fails_the_attempt(script, end):
    run, lines = begin(scanner=Content(script), vendor=True)
    await role_turns.propose_vendor_script(run, TakeVendors())
    assert lines[-1].event == end


async def test_a_fault_of_the_machinery_is_none_of_the_scripts():
    run, _ = begin(scanner=Content(ConnectionLost("gone")), vendor=True)
    with pytest.raises(ConnectionLost):
        await role_turns.propose_vendor_script(run, TakeVendors())


@pytest.mark.parametrize("script", [":", "#" + "x\n" * (LONGEST // 2 - 1)])
async def test_a_script_of_any_length_that_can_be_shown_is_proposed(tmp_path, script):
    host = FixtureTarget("h", tmp_path, confinement=Confinement("none", ""))
    host.prepare(changes=True, consent="", keep=False)
    target = TargetThread(host)
    run, lines = begin(scanner=Content(script), vendor=True, target=target)
    await role_turns.propose_vendor_script(run, TakeVendors())
    await target.close()
    plan, proposed = (one.event for one in lines[-2:])
    assert isinstance(plan, PlanMade)
    assert proposed.actions[0].script == script
