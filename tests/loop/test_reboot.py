"""A run that ends with a reboot, over a real sshd: the loop, the host's own scripts, and a host that may stay away."""

import asyncio

import pytest

from app.errors import ActionFailed, EnvironmentUnusable
from app.events.approval_policy import ApprovalPolicy
from app.events.event_field_types import Budget
from app.events.kinds import (
    ApprovalRequested,
    InForceChecked,
    ItemEscalated,
    ItemPassed,
    RebootAnnounced,
    RebootCompared,
    RebootLost,
    RebootReturned,
    RebootSkipped,
    RebootUndone,
    RunFailed,
    RunFinished,
    RunStarted,
)
from app.events.log_writer import RunLog
from app.loop.drive import drive_run
from app.loop.run_in_progress import Run
from app.loop.state import fold_events
from app.targets.ssh.ssh_rebooter import SshRebooter
from app.targets.ssh.ssh_target import SshTarget
from app.targets.target_thread import TargetThread
from tests.loop.onfixture import OnFixture, Person
from tests.targets.ssh.booting import Machine, count_reboots, make_bootable
from tests.targets.ssh.host import ssh_host
from tests.targets.ssh.test_cut import until

SSHD = "/etc/ssh/sshd_config"
EMPTY, X11 = "V-257984", "V-258007"
SOON = Budget(reboot_seconds=1.0, attempts=1)


@pytest.fixture
def host(tmp_path):
    with ssh_host(tmp_path / "there") as started:
        make_bootable(started)
        yield started


def write_and_open_host(host, *, machine=True):
    """The host, as another process would open it."""
    folder = host.folder.parent / "here"
    folder.mkdir(exist_ok=True)
    (folder / "known_hosts").write_text(host.known_host)
    own = Machine(host) if machine else None
    return SshTarget("web", folder, host.endpoint(), timer=60, patience=5, machine=own)


def on(host, *, machine=True, **means):
    return OnFixture(None, target=write_and_open_host(host, machine=machine), **means)


async def answer_reboot(here, verb):
    await here.kept.until(ApprovalRequested, count=1)
    [asked] = here.events(ApprovalRequested)
    here.person.says(verb, approval=asked.approval, reason="not at noon")
    return asked


async def test_a_disposable_machine_is_rebooted_and_its_fixes_still_hold(host):
    here = on(host)
    was = host.read("/run/boot_id").strip()
    await here.run(EMPTY, X11, engine="none", reboot=True)
    assert here.events(RunStarted)[0].disposable
    assert here.events(ApprovalRequested) == []
    [announced], [returned], [compared] = map(here.events, (RebootAnnounced, RebootReturned, RebootCompared))
    assert (announced.boot, announced.snapshot, announced.rules) == (was, "before-reboot", (EMPTY, X11))
    assert (returned.boot, returned.undone) == (host.read("/run/boot_id").strip(), False)
    assert returned.describe().text.endswith("s; 1 login works")
    assert compared.describe().text == "After the reboot 2 of 2 fixes still hold"
    assert [one.boot for one in here.events(InForceChecked)][-1] == returned.boot
    assert count_reboots(host) == 1
    assert not (host.root / "var/lib/temper/journal/reboot-r").exists()
    assert list((host.root / "var/lib/temper/journal").glob("*/kept")) == []
    assert here.events(RunFinished)[0].passed == 2


@pytest.mark.parametrize("failure", [EnvironmentUnusable("it did not finish"), ActionFailed("somebody holds the lock")])
async def test_a_confirmed_reboot_stays_confirmed_where_its_pre_images_cannot_be_deleted(host, monkeypatch, failure):
    def fail(_):
        raise failure

    monkeypatch.setattr(SshRebooter, "forget_committed_pre_images", fail)
    here = on(host)
    await here.run(EMPTY, X11, engine="none", reboot=True)
    assert here.events(RebootUndone) == []
    assert here.events(RebootCompared)[0].held == (EMPTY, X11)
    assert here.events(RunFinished)[0].passed == 2


async def test_a_fix_that_the_start_of_the_host_overwrites_is_reopened(host):
    stand_in = host.folder / "reboot"
    stand_in.write_text(
        stand_in.read_text().replace(
            "\necho", "\nsed -i 's/^X11Forwarding.*/X11Forwarding yes/' /etc/ssh/sshd_config\necho", 1
        )
    )
    here = on(host)
    await here.run(EMPTY, X11, engine="none", reboot=True)
    [compared], [escalated] = map(here.events, (RebootCompared, ItemEscalated))
    assert (compared.held, compared.lost) == ((EMPTY,), (X11,))
    assert (escalated.rule, escalated.reopened) == (X11, True)
    assert escalated.reason.startswith("does not survive a reboot: ")
    assert "X11Forwarding" in escalated.reason
    [ended] = here.events(RunFinished)
    assert (ended.passed, ended.escalated, ended.regressions) == (1, 1, ())


@pytest.mark.parametrize("verb", ["approve", "refuse"])
async def test_any_other_host_is_rebooted_only_with_a_persons_yes(host, verb):
    here = on(host, machine=False)
    run = asyncio.create_task(here.run(EMPTY, engine="none", reboot=True))
    asked = await answer_reboot(here, verb)
    await run
    assert (asked.about, asked.rule, asked.needs.why) == ("reboot", "", "the host is not disposable")
    assert asked.describe().text == "The reboot waits for a person to approve it"
    assert count_reboots(host) == (1 if verb == "approve" else 0)
    if verb == "refuse":
        assert here.events(RebootSkipped)[0].reason == "p refused: not at noon"
    else:
        assert here.events(RebootAnnounced)[0].undo_seconds == 300
    assert list((host.root / "var/lib/temper/journal").glob("*/kept")) == []
    assert here.events(RunFinished)[0].passed == 1


async def test_two_people_are_asked_where_the_policy_says_so_of_what_breaks_the_boot(host):
    rule = ApprovalPolicy(file="approvals.toml", sha256="f" * 64, rules=(), otherwise=2, line=1)
    here = on(host, machine=False, approvals=rule)
    run = asyncio.create_task(here.run(X11, engine="none", reboot=True))
    await here.kept.until(ApprovalRequested, count=1)
    here.person.says("stop", reason="enough")
    await run
    assert here.events(ApprovalRequested)[0].needs.people == 2


async def test_a_machine_that_does_not_come_back_is_put_back_and_its_changes_taken_back(host):
    (host.root / "run/stays-away").touch()
    before = host.read(SSHD)
    here = on(host)
    await here.run(EMPTY, X11, engine="none", reboot=True, budget=SOON)
    [lost], [undone] = map(here.events, (RebootLost, RebootUndone))
    assert lost.console[-1] == "Kernel panic - not syncing"
    assert "Its console ends with: Kernel panic - not syncing" in lost.describe().text
    assert (undone.snapshot, undone.rules, undone.differences) == ("before-reboot", (EMPTY, X11), ())
    assert host.read(SSHD) == before
    reasons = {one.rule: one.reason for one in here.events(ItemEscalated)}
    assert set(reasons) == {EMPTY, X11}
    assert all("did not come back within" in one and one.endswith("rolled back") for one in reasons.values())
    [ended] = here.events(RunFinished)
    assert (ended.passed, ended.escalated) == (0, 2)


async def test_another_host_that_stays_away_ends_the_run_with_what_to_do(host):
    (host.root / "run/stays-away").touch()
    here = on(host, machine=False)
    run = asyncio.create_task(here.run(EMPTY, engine="none", reboot=True, budget=Budget(reboot_seconds=2.0)))
    await answer_reboot(here, "approve")
    await run
    [failed] = here.events(RunFailed)
    assert failed.reason.endswith(
        "Look at its console. Once it starts, it takes this run's changes back by itself after 1 s."
    )
    assert [one.rule for one in here.events(ItemEscalated)] == [EMPTY]
    assert (host.root / "etc/rcS.d/S99temper-undo-reboot-r").exists()


async def test_a_host_that_refuses_keeps_its_fixes_and_says_why(host):
    (host.root / "run/refuses").touch()
    here = on(host)
    await here.run(EMPTY, engine="none", reboot=True)
    assert "Operation inhibited by a backup" in here.events(RebootSkipped)[0].reason
    assert [one.rule for one in here.events(ItemPassed)] == [EMPTY]
    assert here.events(RunFinished)[0].passed == 1
    assert not (host.root / "etc/rcS.d/S99temper-undo-reboot-r").exists()


async def test_a_server_that_dies_while_the_host_is_away_goes_on_where_it_was(host):
    (host.root / "run/stays-away").touch()
    here = on(host)
    run = asyncio.create_task(here.run(EMPTY, engine="none", reboot=True))
    await here.kept.until(RebootAnnounced, count=1)
    await asyncio.to_thread(until, lambda: host.is_down)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    (host.root / "run/stays-away").unlink()
    host.log.close()
    await asyncio.to_thread(host.start)
    after = write_and_open_host(host)
    last = here.kept.lines[-1]
    log = RunLog("r", here.kept, (last.seq, last.hash))
    means = here.state.services
    again = Run(fold_events(here.kept.lines), log, type(means)(**vars(means) | {"target": TargetThread(after)}))
    await drive_run(again, Person())
    assert count_reboots(host) == 1
    assert here.events(RebootCompared)[0].held == (EMPTY,)
    assert here.events(RunFinished)[0].passed == 1
