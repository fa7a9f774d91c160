"""A reboot step by step, on a host that answers as the test says: what is ordered, waited for, confirmed and undone."""

import pytest
from msgspec.structs import replace

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable
from app.events import kinds
from app.events.event_field_types import Budget
from app.events.log_writer import RunLog
from app.loop import effects, reboot
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import RunState
from app.targets.rebooter_protocol import BootStatus, RollbackResult
from app.targets.running_settings_report import InForceReport
from app.targets.target_thread import TargetThread
from tests.evidence.logs import started
from tests.loop.playing import SHUT_OUT, SOUND, pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A"), rule("B")])
AT = {"rule": "A", "attempt": 1}
BUDGET = Budget(reboot_seconds=100.0)
UP, BACK = BootStatus("up", "b1"), BootStatus("up", "b2")
AWAY, STARTING, STOPPING = (
    BootStatus("away", "", "no answer"),
    BootStatus("starting", "b2"),
    BootStatus("stopping", "b1"),
)
FIXED = (
    kinds.ItemStarted(rule="A", title="", category="II"),
    kinds.AttemptStarted(**AT, lessons=()),
    kinds.ActionApplying(**AT, journal="j1"),
    kinds.ActionApplied(**AT, journal="j1", diff="", changes=(), seconds=0.0),
    kinds.ItemPassed(rule="A", attempts=1),
)
ANNOUNCED = kinds.RebootAnnounced(
    host="h", boot="b1", until=1100.0, rules=("A",), journals=("j1",), snapshot="s", undo_seconds=50
)
APPROVED = (
    kinds.ApprovalRequested(approval="a", rule="", attempt=0, binds="", expires=9e9, about="reboot"),
    kinds.ApprovalGiven(approval="a", by="ada", reason="", about="reboot"),
)


class Host:
    """A host and its rebooter in one. Each look at its boot takes a while on the clock and finds the next of these."""

    name, simulated = "h", False

    def __init__(self, *looks, probes=SOUND, undone=False, faults=(), takes=10.0, **more):
        self.is_disposable = more.pop("disposable", True)
        self.has_emulated_processor, self.can_undo_alone, self.snapshot_name = (
            more.pop(name, usual) for name, usual in (("emulated", False), ("alone", True), ("snapshot", "s"))
        )
        assert not more
        self.now, self.did = 1000.0, []
        self._looks, self._probes, self._undone, self._faults, self._takes = (
            list(looks),
            probes,
            undone,
            dict(faults),
            takes,
        )
        self.rebooter = self

    def _do(self, *what):
        self.did.append(" ".join(map(str, what)))
        if what[0] in self._faults:
            raise self._faults[what[0]]

    def read_boot_status(self):
        self.now += self._takes
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]

    def prepare(self, guard, seconds, journals):
        self._do("prepare", guard, seconds, *journals)

    def order(self):
        self._do("order")

    def confirm(self, guard):
        self._do("confirm", guard)

    def has_undone_any(self, _journals):
        return self._undone

    def forget_committed_pre_images(self):
        self._do("forget")

    def read_console(self):
        return ("Kernel panic",)

    def restore_snapshot(self):
        self._do("restore")

    def undo(self, journals):
        self._do("undo", *journals)
        return RollbackResult(("/etc/x",), (), 0.5)

    def check_health(self):
        return self._probes

    def check_in_force(self):
        return InForceReport()

    def close(self):
        pass


async def perform(step, effect, host, *events, budget=BUDGET):
    kept = Kept()
    services = RunServices(SKILL, TargetThread(host), None, {}, "w", clock=lambda: host.now)
    run = Run(RunState(), RunLog("r", kept, clock=lambda: host.now), services)
    run.append(replace(request(SKILL, budget=budget, reboot=True)), started(probes=SOUND))
    run.append(kinds.RunScoped(order=("A", "B"), compliant=(), undecided=()), *FIXED, *events)
    before = len(kept.lines)
    try:
        await step(run, effect)
    finally:
        await run.services.target.close()
    return [one.event for one in kept.lines[before:]]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(reboot, "FIRST_PAUSE", 0.0)


@pytest.mark.parametrize(
    ("host", "seconds", "undo"),
    [(Host(UP), 100.0, 50), (Host(UP, emulated=True), 300.0, 150), (Host(UP, alone=False), 100.0, 0)],
)
async def test_a_reboot_is_announced_with_the_time_that_the_host_has_for_it(host, seconds, undo):
    (told,) = await perform(reboot.record_reboot_announcement, effects.Reboot(), host)
    assert (told.host, told.boot, told.rules, told.journals, told.snapshot) == ("h", "b1", ("A",), ("j1",), "s")
    assert (told.until, told.undo_seconds, told.emulated) == (1010.0 + seconds, undo, host.has_emulated_processor)


async def test_a_host_has_at_least_a_second_to_be_confirmed():
    (told,) = await perform(
        reboot.record_reboot_announcement, effects.Reboot(), Host(UP), budget=Budget(reboot_seconds=1.0)
    )
    assert told.undo_seconds == 1


async def test_a_host_that_somebody_depends_on_is_announced_only_after_an_approval():
    with pytest.raises(EnvironmentUnusable, match="nobody approved it"):
        await perform(reboot.record_reboot_announcement, effects.Reboot(), Host(UP, disposable=False))
    (told,) = await perform(reboot.record_reboot_announcement, effects.Reboot(), Host(UP, disposable=False), *APPROVED)
    assert isinstance(told, kinds.RebootAnnounced)


async def test_a_host_that_does_not_answer_or_cannot_boot_is_not_rebooted():
    with pytest.raises(ConnectionLost, match="does not answer: no answer"):
        await perform(reboot.record_reboot_announcement, effects.Reboot(), Host(AWAY))
    host = Host(UP)
    host.rebooter = None
    with pytest.raises(EnvironmentUnusable, match="h does not boot, so it cannot be rebooted"):
        await perform(reboot.record_reboot_announcement, effects.Reboot(), host)


ORDERED, KEPT = ["prepare reboot-r 50 j1", "order"], ["confirm reboot-r", "forget"]


async def wait_for(*looks, **more):
    host = Host(*looks, **more)
    return host, await perform(reboot.order_and_await_reboot, effects.AwaitReboot(), host, ANNOUNCED)


async def test_a_host_that_comes_back_well_keeps_its_changes():
    host, told = await wait_for(UP, STOPPING, AWAY, AWAY, BACK)
    assert host.did == [*ORDERED, *KEPT]
    assert told == [kinds.RebootReturned(host="h", boot="b2", seconds=50.0, probes=SOUND)]


async def test_one_that_was_told_before_a_crash_is_not_told_again():
    host, told = await wait_for(BACK)
    assert host.did == KEPT
    assert isinstance(told[0], kinds.RebootReturned)


async def test_one_that_goes_on_as_before_is_told_again_after_a_minute():
    host, _ = await wait_for(*[UP] * 8, BACK)
    assert host.did == [*ORDERED, *ORDERED, *KEPT]


async def test_one_that_does_not_shut_down_in_time_or_refuses_is_not_rebooted():
    for faults, reason in (
        ({}, "it did not shut down in time"),
        ({"order": ActionFailed("It refuses.")}, "It refuses"),
    ):
        for takes in (60.0, 10.0):  # the order is due again at the last look, or it is not
            host, told = await wait_for(UP, faults=faults, takes=takes)
            assert told == [kinds.RebootSkipped(host="h", reason=reason)]
            assert host.did[-2:] == KEPT


async def test_one_whose_connection_broke_before_it_was_told_is_told_again_at_once():
    host = Host(UP, UP, BACK, faults={"prepare": ConnectionLost("gone")})
    await perform(reboot.order_and_await_reboot, effects.AwaitReboot(), host, ANNOUNCED)
    assert host.did == ["prepare reboot-r 50 j1"] * 2 + KEPT


@pytest.mark.parametrize(("looks", "reason"), [([UP, AWAY], "no answer"), ([STOPPING], "it shows no sign of a reboot")])
async def test_one_that_does_not_come_back_in_time_is_lost(looks, reason):
    host, told = await wait_for(*looks)
    assert told == [kinds.RebootLost(host="h", seconds=100.0, reason=reason, console=("Kernel panic",))]
    assert "confirm reboot-r" not in host.did


@pytest.mark.parametrize(("emulated", "seconds"), [(False, 40.0), (True, 100.0)])
async def test_a_probe_that_fails_while_services_start_is_harm_only_after_a_while(emulated, seconds):
    host = Host(BACK, probes=SHUT_OUT)
    announced = replace(ANNOUNCED, emulated=emulated)
    (told,) = await perform(reboot.order_and_await_reboot, effects.AwaitReboot(), host, announced)
    assert (told.probes, told.seconds, host.did) == (SHUT_OUT, seconds, [])


async def test_one_that_is_still_starting_is_left_to_start():
    host, (told,) = await wait_for(STARTING, STARTING, BACK)
    assert (told.seconds, host.did) == (30.0, KEPT)
    host, (told,) = await wait_for(STARTING)
    assert (told.seconds, told.boot) == (40.0, "b2")


async def test_one_that_took_its_changes_back_itself_is_confirmed_nothing():
    host, (told,) = await wait_for(BACK, undone=True)
    assert (told.undone, told.seconds, host.did) == (True, 10.0, [])


async def test_one_that_cannot_be_examined_yet_is_looked_at_again():
    host = Host(BACK, faults={"confirm": ConnectionLost("It is taking them back.")})
    (told,) = await perform(reboot.order_and_await_reboot, effects.AwaitReboot(), host, ANNOUNCED)
    assert (type(told), told.reason) == (kinds.RebootLost, "It is taking them back")


RETURNED = kinds.RebootReturned(host="h", boot="b2", seconds=1.0, probes=SHUT_OUT)
LOST = kinds.RebootLost(host="h", seconds=100.0, reason="")


@pytest.mark.parametrize(
    ("events", "snapshot", "did"),
    [
        ((ANNOUNCED, RETURNED), "", ["confirm reboot-r", "undo j1"]),
        ((ANNOUNCED, LOST), "s", ["restore", "confirm reboot-r", "undo j1"]),
        ((replace(ANNOUNCED, snapshot=""), LOST), "", ["confirm reboot-r", "undo j1"]),
    ],
)
async def test_changes_are_taken_back_from_the_snapshot_of_a_lost_host_or_on_the_host_itself(events, snapshot, did):
    host = Host(UP)
    (told,) = await perform(reboot.undo_run_changes_and_record_reboot_undone, effects.UndoRun(), host, *events)
    assert told == kinds.RebootUndone(
        host="h", snapshot=snapshot, rules=("A",), paths=("/etc/x",), differences=(), probes=SOUND, seconds=0.5
    )
    assert host.did == did


async def test_what_cannot_be_taken_back_is_a_difference_and_a_broken_connection_is_none():
    host = Host(UP, faults={"undo": ActionFailed("no journal")})
    (told,) = await perform(
        reboot.undo_run_changes_and_record_reboot_undone, effects.UndoRun(), host, ANNOUNCED, RETURNED
    )
    assert (told.differences, told.paths, told.seconds) == (("no journal",), (), 0.0)
    host = Host(UP, faults={"undo": ConnectionLost("gone")})
    with pytest.raises(ConnectionLost):
        await perform(reboot.undo_run_changes_and_record_reboot_undone, effects.UndoRun(), host, ANNOUNCED, RETURNED)


def verdict(name, phase, word):
    return kinds.VerdictGiven(rule=name, phase=phase, word=word, evidence="", scanner="s")


@pytest.mark.parametrize(
    ("back", "word", "held", "lost"),
    [
        (replace(RETURNED, probes=SOUND), "pass", ("A",), ()),
        (replace(RETURNED, probes=SOUND), "notapplicable", ("A",), ()),
        (replace(RETURNED, probes=SOUND), "fail", (), ("A",)),
        (replace(RETURNED, probes=SOUND), "error", (), ("A",)),
        (RETURNED, "pass", (), ("A",)),
    ],
)
async def test_fixes_that_hold_after_the_reboot_are_told_from_those_that_are_lost(back, word, held, lost):
    scans = [verdict("B", "opening", "pass"), verdict("A", "closing", word), verdict("B", "closing", word)]
    (told,) = await perform(
        reboot.compare_fixes_after_reboot, effects.CompareReboot(), Host(UP), ANNOUNCED, back, *scans
    )
    slipped = () if word in ("pass", "notapplicable") else ("B",)
    assert told == kinds.RebootCompared(host="h", held=held, lost=lost, slipped=slipped)


async def test_an_item_is_reopened_with_its_reason():
    (told,) = await perform(reboot.escalate_lost_fix, effects.ReopenItem("A", "came back"), Host(UP), ANNOUNCED)
    assert told == kinds.ItemEscalated(rule="A", reason="came back", reopened=True)


async def test_a_reboot_that_is_skipped_forgets_what_it_would_have_taken_back():
    host = Host(UP)
    (told,) = await perform(reboot.skip_reboot, effects.SkipReboot("why"), host)
    assert (told, host.did) == (kinds.RebootSkipped(host="h", reason="why"), ["forget"])
