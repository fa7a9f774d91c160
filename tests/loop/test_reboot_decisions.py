"""The reboot at the end, as decide() sees it: >> is what it asks for next, << is what came of it."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.events.event_field_types import PendingSetting, Probe
from app.events.kinds import (
    ApprovalGiven,
    InForceChecked,
    ItemEscalated,
    RebootAnnounced,
    RebootReturned,
    RebootSkipped,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStopped,
    RunStopRequested,
)
from app.loop.decide import decide_next_effect
from app.loop.effects import AwaitReboot, Scan, Wait
from app.loop.reboot_decisions import describe_harm_after_reboot
from app.loop.state import fold_events
from tests.loop.playing import SOUND, World, pack, request, rule
from tests.loop.story import story
from tests.loop.test_decide import chance, scripted
from tests.thorough import examples

ONE, TWO = pack([rule("A")]), pack([rule("A"), rule("B")])
HOLDS = {"opening": "fail", "closing": "pass"}


def played(skill=ONE, mode="auto", **wanted):
    world = World(skill, scripted(**HOLDS | wanted))
    world.put(request(skill, mode=mode, reboot=True))
    world.play()
    return world


def end_of(world):
    """From where the last item was closed."""
    told = story(world)
    return told[told.rindex("<< item.passed\n") + len("<< item.passed\n") :]


def test_a_disposable_machine_is_rebooted_without_asking_and_scanned_afterwards():
    assert (
        end_of(played(host="disposable"))
        == """\
>> reboot
<< reboot.announced
>> await reboot
<< reboot.returned
>> scan closing
<< scan.started, verdict pass, scan.finished
>> compare reboot
<< reboot.compared
>> finish
<< run.finished
"""
    )


@pytest.mark.parametrize("mode", ["auto", "review"])
def test_any_other_host_is_rebooted_once_a_person_approves(mode):
    told = end_of(played(mode=mode, host="depended on"))
    assert told.startswith("""\
>> ask for reboot
<< approval.requested
>> wait
<< approval.given
>> reboot
<< reboot.announced
""")


@pytest.mark.parametrize(
    ("person", "answer", "reason"),
    [("refuse", "approval.refused", "p refused: no"), ("nobody", "approval.expired", "late")],
)
def test_without_a_yes_the_run_ends_without_a_reboot(person, answer, reason):
    world = played(host="depended on", person=person)
    assert f"<< {answer}\n>> skip reboot {reason}\n<< reboot.skipped\n>> scan closing" in end_of(world)
    assert not any(isinstance(one.event, RebootAnnounced) for one in world.log)
    assert world.state.items["A"].status == "passed"


def test_a_run_that_changed_nothing_reboots_nothing():
    told = story(played(host="disposable", policy="refuse"))
    assert ">> skip reboot this run changed nothing that a reboot could undo\n" in told
    assert ">> reboot\n" not in told


def test_a_fix_that_does_not_hold_afterwards_is_reopened():
    world = played(TWO, host="disposable", closing=["pass", "fail"])
    assert end_of(world).endswith("""\
>> compare reboot
<< reboot.compared
>> reopen item B does not survive a reboot: x
<< item.escalated
>> finish
<< run.finished
""")
    assert {name: item.status for name, item in world.state.items.items()} == {"A": "passed", "B": "escalated"}
    assert world.state.items["B"].ended < world.state.reboot.announced_at


def test_what_a_later_change_may_have_undone_is_not_laid_on_the_reboot():
    world = played(TWO, host="disposable", closing=["fail", "pass"])
    reason = "does not hold after the reboot: x. The reboot undid it, or a later change of this run did"
    assert f">> reopen item A {reason}\n" in end_of(world)


def test_a_machine_that_does_not_come_back_is_put_back_and_its_fixes_are_reopened():
    world = played(host="disposable", reboot="lost", closing="fail")
    assert (
        end_of(world)
        == """\
>> reboot
<< reboot.announced
>> await reboot
<< reboot.lost
>> undo run
<< reboot.undone
>> scan closing
<< scan.started, verdict fail, scan.finished
>> compare reboot
<< reboot.compared
>> reopen item A does not survive a reboot: h did not come back within 600 s (silent); its change was rolled back
<< item.escalated
>> finish
<< run.finished
"""
    )


def test_another_host_that_does_not_come_back_halts_the_run_which_says_what_the_host_will_do():
    world = played(host="depended on", reboot="lost")
    assert world.state.items["A"].status == "escalated"
    assert isinstance(world.state.ended, RunFailed)
    assert world.state.ended.reason == (
        "h did not come back within 600 s (silent). Look at its console. Once it starts, it takes this run's "
        "changes back by itself after 300 s."
    )


@pytest.mark.parametrize(("reboot", "why"), [("ill", "agent-login: refused"), ("taken back", "no login confirmed it")])
def test_a_host_that_comes_back_ill_gets_its_changes_rolled_back(reboot, why):
    world = played(host="depended on", reboot=reboot, closing="fail")
    assert ">> undo run\n<< reboot.undone\n>> scan closing" in end_of(world)
    assert why in world.state.items["A"].reason
    assert isinstance(world.state.ended, RunFinished)


@pytest.mark.parametrize(
    ("undo", "reason"), [("differs", "left a difference"), ("ill", "not healthy after the rollback")]
)
def test_a_rollback_that_does_not_restore_the_host_halts_the_run(undo, reason):
    world = played(host="depended on", reboot="ill", undo=undo)
    assert isinstance(world.state.ended, RunFailed)
    assert reason in world.state.ended.reason
    assert world.state.items["A"].status == "escalated"


def test_a_reboot_that_the_host_refuses_is_none():
    world = played(host="disposable", reboot="refused")
    assert "<< reboot.skipped\n>> scan closing" in end_of(world)
    assert world.state.items["A"].status == "passed"


def announced(host="disposable"):
    """A run whose host is away."""
    world = World(ONE, scripted(**HOLDS, host=host))
    world.put(request(ONE, reboot=True))
    while not world.state.reboot.announced:
        world.come_out(decide_next_effect(world.state, ONE, world.now))
    return world


@pytest.mark.parametrize("asked", [RunStopRequested(by="ada", reason="enough"), RunPaused(by="ada")])
def test_neither_stop_nor_pause_leaves_a_host_that_is_away(asked):
    world = announced()
    world.put(asked)
    assert decide_next_effect(world.state, ONE, world.now) == AwaitReboot()
    world.put(RebootReturned(host="h", boot="b2", seconds=41.0, probes=SOUND))
    if isinstance(asked, RunPaused):
        assert decide_next_effect(world.state, ONE, world.now) == Wait(None)
    else:
        world.play()
        assert isinstance(world.state.ended, RunStopped)


def test_what_the_boot_was_denied_is_no_harm_and_is_known_to_what_comes_after():
    world = announced()
    before = Probe("selinux-denials", True, "SELinux denied since the boot: nothing")
    assert world.state.started
    world.state = msgspec.structs.replace(
        world.state, started=msgspec.structs.replace(world.state.started, probes=(*SOUND, before))
    )
    denied = Probe("selinux-denials", False, "new: denied udevd: search on dir", weak=("denied udevd",))
    world.put(RebootReturned(host="h", boot="b2", seconds=41.0, probes=(*SOUND, denied)))
    assert describe_harm_after_reboot(world.state) == ""
    assert denied in world.state.baseline_probes
    assert before not in world.state.baseline_probes


def test_a_worker_that_dies_meanwhile_goes_on_waiting():
    world = announced()
    world.draw = scripted(reboot=["crash", "crash", "back"], **HOLDS)
    world.play()
    assert [type(one) for one in world.effects].count(AwaitReboot) == 3
    assert world.state.reboot.compared.held == ("A",)


def test_what_the_reboot_brought_into_force_waits_no_more():
    late = PendingSetting(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")
    other = PendingSetting(program="sshd", setting="/etc/ssh/sshd_config", wanted="", running="", by="a reload of sshd")
    world = World(ONE, scripted(**HOLDS, host="disposable"))
    world.put(request(ONE, reboot=True))
    while not (world.state.attempt and world.state.attempt.probed):
        world.come_out(decide_next_effect(world.state, ONE, world.now))
    world.put(InForceChecked(rule="A", attempt=1, boot="b1", asked=("sysctl", "sshd"), behind=(late, other)))
    while not world.state.reboot.returned:
        world.come_out(decide_next_effect(world.state, ONE, world.now))
    assert world.state.items["A"].attempt.force.behind == (late, other)
    world.put(InForceChecked(boot="b2", asked=("sysctl", "sshd"), behind=(other,)))
    assert world.state.items["A"].attempt.force.behind == (other,)
    assert decide_next_effect(world.state, ONE, world.now) == Scan("closing")


@settings(max_examples=examples(100, 4500), deadline=None)
@given(seed=st.integers(0, 2**32), mode=st.sampled_from(["auto", "review"]), share=st.floats(0, 1))
def test_whatever_happens_nobody_is_surprised_and_nothing_counts_that_did_not_survive(seed, mode, share):
    world = World(TWO, chance(seed))
    world.put(request(TWO, mode=mode, reboot=True))
    world.play()
    state, approved = world.state, False
    for one in world.log:
        approved |= isinstance(one.event, ApprovalGiven) and one.event.about == "reboot"
        assert not isinstance(one.event, RebootAnnounced) or approved or state.started.disposable
    assert isinstance(state.ended, RunFinished | RunFailed)
    reboot, passed = state.reboot, {name for name, item in state.items.items() if item.status == "passed"}
    if reboot.undone or reboot.lost:
        assert not passed & set(reboot.announced.rules)
    elif reboot.compared:
        assert passed == set(reboot.compared.held)
    reopened = [one.event.rule for one in world.log if isinstance(one.event, ItemEscalated) and one.event.reopened]
    assert len(reopened) == len(set(reopened))
    assert reboot.is_announced_and_unskipped or not reopened
    assert sum(isinstance(one.event, RebootAnnounced | RebootSkipped) for one in world.log) <= 2
    cut = int(share * len(world.log))
    assert fold_events(world.log[cut:], fold_events(world.log[:cut])) == state
