"""What a fault makes of a run: it waits, an attempt fails, or the run ends; told from the fault and how far it was."""

import errno

import pytest
from msgspec.structs import replace

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable, RollbackFailed, StorageFault
from app.events import kinds
from app.events.log_writer import RunLog
from app.loop import drive
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import RunState, fold_events
from app.targets.rebooter_protocol import RollbackResult
from app.targets.target_thread import TargetThread
from tests.evidence.logs import chain, scoped, started
from tests.loop.playing import SOUND, pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A")])
AT = {"rule": "A", "attempt": 1}
QUEUED = request(SKILL)
BEGUN = (QUEUED, started(probes=SOUND), scoped({"A": "fail"}))
TRYING = (*BEGUN, kinds.ItemStarted(rule="A", title="", category="II"), kinds.AttemptStarted(**AT, lessons=()))
APPLYING = (*TRYING, kinds.ActionApplying(**AT, journal="j"))
CHANGED = (*APPLYING, kinds.ActionApplied(**AT, journal="j", diff="", changes=(), seconds=0.0))
FAILED = (*CHANGED, kinds.AttemptFailed(**AT, cause="scanner", reason=""))
STOPPING = kinds.RunStopRequested(by="ada", reason="")
GONE = ConnectionLost("The line is gone.")
AWAY = kinds.RunWaiting(cause="host", reason=GONE.sentence)


@pytest.mark.parametrize(
    ("events", "event"),
    [
        ((QUEUED,), None),
        (BEGUN, AWAY),
        (TRYING, AWAY),
        (APPLYING, AWAY),
        (CHANGED, kinds.AttemptFailed(**AT, cause="change failed", reason=GONE.sentence)),
        (FAILED, None),
        ((*CHANGED, STOPPING), None),
        ((*BEGUN, STOPPING), None),
    ],
)
def test_a_lost_line_is_waited_for_unless_a_change_may_have_cut_it(events, event):
    assert drive.find_event_for_fault(GONE, fold_events(chain(events))) == event


@pytest.mark.parametrize("events", [(QUEUED,), BEGUN, CHANGED, (*BEGUN, STOPPING)])
def test_a_full_disk_is_waited_for_at_any_time(events):
    full = OSError(errno.ENOSPC, "No space left", "/data/x")
    event = drive.find_event_for_fault(full, fold_events(chain(events)))
    assert (event.cause, event.engine) == ("storage", "")
    assert "the run resumes by itself" in event.reason


@pytest.mark.parametrize("fault", [ActionFailed("no"), EnvironmentUnusable("no"), RollbackFailed("no"), OSError("no")])
def test_any_other_fault_is_none_of_the_machinery(fault):
    assert drive.find_event_for_fault(fault, fold_events(chain(BEGUN))) is None


class Host:
    """A host whose first act is this fault, with open changes on it."""

    name, simulated = "h", True

    def __init__(self, fault, *, pending=(), left=()):
        self._fault, self._pending, self._left, self.undone = fault, list(pending), left, []

    @property
    def files(self):
        raise self._fault

    def list_pending(self):
        return list(self._pending)

    def roll_back(self, journal):
        self._pending.remove(journal)
        self.undone.append(journal)
        return RollbackResult((), self._left, 0.0)

    def check_health(self):
        return SOUND

    def close(self):
        pass


async def drive_into(fault, *events, **more):
    """The run, driven until it ends, and the events that the fault led to."""
    kept, host = Kept(), Host(fault, **more)
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, TargetThread(host), None, {}, "w"))
    run.append(*events)
    before = len(kept.lines)
    try:
        await drive._perform_until_done(run)
    finally:
        await run.services.target.close()
    return run, host, [one.event for one in kept.lines[before:]]


async def test_a_fault_of_the_environment_fails_the_run_with_its_sentence():
    run, host, told = await drive_into(EnvironmentUnusable("Install it."), QUEUED, started(probes=SOUND))
    assert told[-1] == kinds.RunFailed(reason="Install it.")
    assert (run.state.status, host.undone) == ("failed", [])


async def test_a_rollback_that_failed_halts_the_run():
    _, _, told = await drive_into(RollbackFailed("Nothing fits."), QUEUED, started(probes=SOUND))
    assert told[-1] == kinds.RunFailed(reason="halt: Nothing fits.")


async def test_a_fault_that_nobody_foresaw_is_raised():
    with pytest.raises(OSError, match="unforeseen"):
        await drive_into(OSError("unforeseen"), QUEUED, started(probes=SOUND))


async def test_a_run_that_fails_takes_its_open_changes_back_first():
    kept, host = Kept(), Host(StorageFault(""), pending=["j1", "j2"])
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, TargetThread(host), None, {}, "w"))
    run.append(*CHANGED)
    await drive.roll_back_and_fail_run(run, "why")
    await run.services.target.close()
    assert host.undone == ["j1", "j2"]
    assert kept.lines[-1].event == kinds.RunFailed(reason="why")
    assert [one.event.cause for one in kept.lines if isinstance(one.event, kinds.ActionRollingBack)] == [
        "fault",
        "fault",
    ]


async def test_where_no_item_is_worked_on_nothing_is_taken_back():
    kept, host = Kept(), Host(None, pending=["j1"])
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, TargetThread(host), None, {}, "w"))
    run.append(*BEGUN)
    await drive.roll_back_and_fail_run(run, "why")
    await run.services.target.close()
    assert (host.undone, kept.lines[-1].event) == ([], kinds.RunFailed(reason="why"))


async def test_a_fault_while_changes_are_taken_back_is_named_before_the_first():
    class Broken(Host):
        def roll_back(self, _journal):
            raise RollbackFailed("No journal.")

    kept, host = Kept(), Broken(None, pending=["j1"])
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, TargetThread(host), None, {}, "w"))
    run.append(*CHANGED)
    await drive.roll_back_and_fail_run(run, "why")
    await run.services.target.close()
    assert kept.lines[-1].event == kinds.RunFailed(reason="halt: No journal. That was after why")
    assert replace(run.state.ended, reason="") == kinds.RunFailed(reason="")
