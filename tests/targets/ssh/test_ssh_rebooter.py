"""A host over SSH reboots: what is seen of it meanwhile, what it takes back by itself, and what can be taken back."""

import fcntl
from contextlib import suppress
from pathlib import Path

import pytest

from app.errors import ActionFailed, ConnectionLost
from app.events.event_field_types import SetOption, WriteFile
from tests.targets.ssh.booting import Machine, count_reboots, make_bootable
from tests.targets.ssh.test_cut import until

SSHD = "/etc/ssh/sshd_config"
DROP_IN = WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n")
PATHS = frozenset({SSHD, DROP_IN.path})
GUARD = "reboot-r"
NEWEST_FIRST = ("two", "one")


@pytest.fixture
def booting(host):
    make_bootable(host)
    return host


@pytest.fixture
def changed(booting, opened):
    """A host with two changes over one file and one beside, kept so that they can still be rolled back."""
    target = opened()
    target.prepare()
    before = booting.everything()
    for journal, value, more in (("one", "no", [DROP_IN]), ("two", "yes", [])):
        change = SetOption(path=SSHD, key="X11Forwarding" if journal == "one" else "StrictModes", value=value)
        target.apply(journal, [change, *more], PATHS)
        target.commit(journal, keep_images=True)
    assert booting.everything() != before
    return target, before


def boot(target):
    """The host starts, and runs what it runs then."""
    with suppress(ConnectionLost):  # it may boot again at once
        target.line.run_text('for one in /etc/rcS.d/S99*; do [ ! -e "$one" ] || "$one"; done')


def list_waiting():
    """List the processes that would take the changes back."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"/{GUARD}/restore".encode() in file.read_bytes():
                found.append(file.parent.name)
    return found


def test_a_reboot_shows_in_the_boot_id_and_costs_the_lines(booting, opened):
    target = opened()
    was = target.rebooter.read_boot_status()
    assert (was.phase, was.boot) == ("up", booting.read("/run/boot_id").strip())
    target.rebooter.order()
    now = target.rebooter.read_boot_status()
    assert (now.phase, count_reboots(booting)) == ("up", 1)
    assert now.boot not in ("", was.boot)
    assert target.line.run_text("echo here").text == "here\n"


def test_a_line_that_fell_silent_in_the_reboot_is_not_used_again(booting, opened):
    target = opened()
    (booting.root / "run/falls-silent").touch()
    target.rebooter.order()
    (booting.root / "run/answered").touch()
    until((booting.root / "run/silent").exists)
    assert target.line.run_text("echo here", seconds=5).text == "here\n"


def test_a_host_that_is_away_is_no_error(booting, opened):
    target = opened()
    (booting.root / "run/stays-away").touch()
    target.rebooter.order()
    until(lambda: booting.is_down)
    away = target.rebooter.read_boot_status()
    assert (away.phase, away.boot) == ("away", "")
    assert str(target.line.end) in away.reason


def test_a_host_that_refuses_says_why(booting, opened):
    (booting.root / "run/refuses").touch()
    with pytest.raises(ActionFailed, match="refuses to reboot: Operation inhibited by a backup"):
        opened().rebooter.order()
    assert count_reboots(booting) == 0


def test_changes_that_are_kept_for_it_are_rolled_back_newest_first(booting, changed, opened):
    _, before = changed
    came_back = opened()  # another process
    undone = came_back.rebooter.undo(NEWEST_FIRST)
    assert (set(undone.paths), undone.differences) == ({SSHD, DROP_IN.path}, ())
    assert (booting.everything(), came_back.list_pending()) == (before, [])
    assert came_back.rebooter.undo(NEWEST_FIRST).differences == ()
    assert booting.everything() == before


def test_a_rollback_that_was_cut_off_is_finished_by_the_next(booting, changed, opened):
    target, before = changed
    booting.cuts_after(3, before=True)
    with pytest.raises(ConnectionLost):
        target.rebooter.undo(NEWEST_FIRST)
    booting.heals()
    assert opened().rebooter.undo(NEWEST_FIRST).differences == ()
    assert booting.everything() == before


def test_once_its_pre_images_are_gone_a_change_is_never_taken_for_one_that_added_a_file(booting, changed):
    target, _ = changed
    after = booting.everything()
    target.rebooter.forget_committed_pre_images()
    kept = [one.name for one in (booting.root / "var/lib/temper/journal/one").iterdir()]
    assert not {"0", "1", "kept"} & set(kept)
    with pytest.raises(ActionFailed, match="pre-images of the change two are gone"):
        target.rebooter.undo(NEWEST_FIRST)
    target.rebooter.prepare(GUARD, 1, NEWEST_FIRST)
    (booting.root / f"var/lib/temper/journal/{GUARD}/seconds").write_text("0\n")
    boot(target)
    until(lambda: count_reboots(booting) == 1)
    assert booting.everything() == after


def test_a_guard_whose_changes_are_confirmed_ends_although_the_lock_is_held(booting, changed):
    target, _ = changed
    target.rebooter.prepare(GUARD, 60, NEWEST_FIRST)
    folder = booting.root / "var/lib/temper/journal"
    (folder / GUARD / "journals").unlink()
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = target.line.run_text(f"/bin/sh /var/lib/temper/journal/{GUARD}/restore {GUARD} late", seconds=10)
    assert (ended.code, ended.err) == (0, "")


def test_what_nobody_confirms_after_the_start_the_host_takes_back_and_boots_again(booting, changed, opened):
    target, before = changed
    target.rebooter.prepare(GUARD, 1, NEWEST_FIRST)
    assert (booting.root / f"etc/rcS.d/S99temper-undo-{GUARD}").exists()
    (booting.root / f"var/lib/temper/journal/{GUARD}/seconds").write_text("0\n")
    boot(target)
    until(lambda: count_reboots(booting) == 1)
    assert booting.everything() == before
    came_back = opened()
    assert came_back.rebooter.has_undone_any(NEWEST_FIRST)
    came_back.rebooter.confirm(GUARD)
    assert came_back.rebooter.undo(NEWEST_FIRST).differences == ()
    assert came_back.list_pending() == []


def test_what_is_confirmed_stays(booting, changed):
    target, _ = changed
    after = booting.everything()
    target.rebooter.prepare(GUARD, 3600, NEWEST_FIRST)
    boot(target)
    target.rebooter.confirm(GUARD)
    target.rebooter.confirm(GUARD)
    assert booting.everything() == after
    assert not target.rebooter.has_undone_any(NEWEST_FIRST)
    assert not (booting.root / f"var/lib/temper/journal/{GUARD}").exists()


def test_a_confirmation_ends_what_waits_for_it(booting, changed):
    target, _ = changed
    target.rebooter.prepare(GUARD, 3600, NEWEST_FIRST)
    boot(target)
    until(list_waiting)
    target.rebooter.confirm(GUARD)
    until(lambda: not list_waiting())


def test_a_confirmation_that_comes_too_late_says_so(booting, changed):
    target, _ = changed
    target.rebooter.prepare(GUARD, 3600, NEWEST_FIRST)
    (booting.root / f"var/lib/temper/journal/{GUARD}/taking").touch()
    with pytest.raises(ConnectionLost, match="taking this run's changes back by itself"):
        target.rebooter.confirm(GUARD)


def test_the_next_run_leaves_no_pre_images_of_the_last_one_behind(booting, changed, opened):
    opened().prepare()
    assert not (booting.root / "var/lib/temper/journal/one/kept").exists()
    assert not (booting.root / "var/lib/temper/journal/two/0").exists()


def test_a_machine_of_ours_is_put_back_to_before_the_reboot_and_shows_its_console(booting, opened):
    machine = Machine(booting)
    target = opened(machine=machine)
    assert (target.rebooter.is_disposable, target.rebooter.snapshot_name) == (True, "before-reboot")
    assert not opened().rebooter.is_disposable
    target.prepare()
    before = booting.everything()
    target.rebooter.prepare(GUARD, 0, ())
    (booting.root / "run/stays-away").touch()
    target.rebooter.order()
    until(lambda: booting.is_down)
    (booting.root / "etc/login.defs").write_text("lost\n")
    assert target.rebooter.read_console() == ("[  OK  ] Started", "Kernel panic - not syncing")
    target.rebooter.restore_snapshot()
    assert booting.everything() == before
    assert target.rebooter.read_boot_status().phase == "up"
