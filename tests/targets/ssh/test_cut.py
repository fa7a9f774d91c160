"""The line is cut, the disk is full, the change locks everybody out: the host comes back, with us or without."""

import time

import pytest

from app.errors import ActionFailed, ConnectionLost
from app.events.event_field_types import SetOption, WriteFile

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
DROP_IN = WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n")
LOCKOUT = SetOption(path=SSHD, key="RequiredRSASize", value="3072")
BY_RSA = pytest.mark.parametrize("host", ["ssh-rsa"], indirect=True)
"""Of 2048 bits."""
"""Our own key has 2048 bits."""
PATHS = frozenset({SSHD, DROP_IN.path})


def until(good):
    deadline = time.monotonic() + 30
    while not good():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_line_is_cut_in_mid_change_and_whoever_comes_next_reconciles(host, opened):
    """Before a command ran, or done and unheard of: the journal, the file, the timer, the look afterwards."""
    target = opened()
    target.prepare()
    was = host.everything()
    target.apply("uncut", [NO_X11], PATHS)  # what is asked once has been asked
    target.roll_back("uncut")
    for command, before in ((3, True), (3, False), (5, True), (5, False), (7, False), (8, False)):
        journal = f"cut-{command}-{before}"
        host.cuts_after(command, before=before)
        with pytest.raises((ActionFailed, ConnectionLost), match=r"was cut|does not answer"):
            target.apply(journal, [NO_X11], PATHS)
        host.heals()
        came_back = opened() if command == 5 else target
        assert came_back.roll_back(journal).differences == ()
        assert (host.everything(), came_back.list_pending()) == (was, [])


@BY_RSA
def test_a_lockout_is_undone_by_the_host_alone_while_nobody_reaches_it(host, opened):
    target = opened()
    target.prepare()
    was = host.everything()
    target.apply("lockout", [LOCKOUT], PATHS)
    host.cut()
    host.ends_the_wait_of("lockout")
    until((host.root / "var/lib/temper/journal/lockout/undone").exists)
    until(lambda: host.everything() == was)
    undone = target.roll_back("lockout")
    assert undone.differences == ()
    assert (target.list_pending(), (target.check_health())[0].ok) == ([], True)


@BY_RSA
def test_a_lockout_is_seen_by_a_new_login_and_undone_over_the_old_one(host, opened):
    target = opened()
    target.prepare()
    was = host.everything()
    target.apply("lockout", [LOCKOUT], PATHS)
    login, sudo = (target.check_health())[:2]
    assert (login.ok, sudo.ok) == (False, False)
    assert "refuses the login" in login.detail
    with pytest.raises(ActionFailed, match="cannot stay"):
        target.commit("lockout")
    assert target.roll_back("lockout").differences == ()
    assert host.everything() == was
    assert (target.check_health())[0].ok


@BY_RSA
def test_what_the_host_took_back_cannot_be_kept_or_gone_on_with(host, opened):
    target = opened()
    target.prepare()
    was = host.everything()
    target.apply("lockout", [LOCKOUT], PATHS)
    host.ends_the_wait_of("lockout")
    until((host.root / "var/lib/temper/journal/lockout/undone").exists)
    until(lambda: host.everything() == was)
    late = target.line.run("push", "journalled", SSHD, "4", "0600", "root:root", "-", data=b"late")
    assert (late.code, host.everything()) == (7, was)
    with pytest.raises(ActionFailed, match="took the change lockout back by itself"):
        target.commit("lockout")
    assert target.list_pending() == []


def test_a_timer_that_was_stopped_by_a_new_login_does_nothing(host, opened):
    target = opened()
    target.prepare()
    target.apply("fine", [NO_X11], PATHS)
    now = host.everything()
    assert target.line.run("restore", "fine", "timer").code == 0
    assert host.everything() == now
    assert target.list_pending() == ["fine"]


def test_a_full_disk_refuses_the_change_and_does_not_stop_its_undoing(host, opened):
    target = opened()
    target.prepare()
    was = host.everything()
    host.enters(full=True)
    with pytest.raises(ActionFailed, match="Nothing was written"):
        target.apply("one", [NO_X11], PATHS)
    assert (host.everything(), target.list_pending()) == (was, [])
    host.enters()
    target.apply("two", [NO_X11], PATHS)
    host.enters(full=True)
    assert target.line.run("restore", "two", "asked").text.strip() == ""
    host.enters()
    assert "X11Forwarding yes" in host.read(SSHD)
    assert target.roll_back("two").differences == ()
    assert host.everything() == was


def test_half_a_file_never_takes_the_place_of_a_whole_one(host, opened):
    target = opened()
    target.prepare()
    target.apply("one", [NO_X11], PATHS)
    text = host.read(SSHD)
    short = target.line.run("push", "journalled", SSHD, "9000", "0600", "root:root", "-", data=b"Perm")
    assert (short.code, host.read(SSHD)) == (8, text)
    assert [at.name for at in (host.root / "etc/ssh").iterdir() if "temper-new" in at.name] == []
