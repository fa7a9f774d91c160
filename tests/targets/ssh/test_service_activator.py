"""No success is claimed for a reload that nobody saw."""

import os
import signal

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import Reload, SetOption, WriteFile
from app.targets.ssh import service_activator
from tests.targets.ssh.test_cut import until

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
SCRIPT = WriteFile(path="/etc/profile.d/x.sh", content="# no service reads this\n")
PATHS = frozenset({SSHD, SCRIPT.path})


def test_a_sshd_without_its_pid_file_is_no_silent_success(host, opened):
    """Its sockets are another user's to look at from in here: so it is not found, and that is said."""
    target = opened()
    target.prepare()
    was = host.everything()
    (host.root / "run/sshd.pid").rename(host.root / "run/elsewhere")
    with pytest.raises(ActionFailed, match=r"no sshd was found that listens on port \d+; and what a new one would do"):
        target.apply("one", [NO_X11], PATHS)
    (host.root / "run/elsewhere").rename(host.root / "run/sshd.pid")
    assert target.roll_back("one").differences == ()
    assert host.everything() == was


def test_a_sshd_that_hears_and_does_nothing_is_no_success(host, opened):
    target = opened()
    target.prepare()
    listener = host.listener
    os.kill(listener, signal.SIGSTOP)
    try:
        with pytest.raises(ActionFailed, match="nothing shows that the sshd on port"):
            target.apply("one", [NO_X11], PATHS)
    finally:
        os.kill(listener, signal.SIGCONT)
    assert target.roll_back("one").differences == ()


@pytest.mark.parametrize("service", ["rsyslog", "auditd", "chronyd"])
def test_a_service_that_does_not_run_has_read_nothing(host, opened, service):
    target = opened()
    target.prepare()
    with pytest.raises(ActionFailed, match=f"not in force: {service} does not run on this host"):
        target.apply("one", [SCRIPT, Reload(service=service)], PATHS)
    assert target.roll_back("one").differences == ()


def test_the_timer_is_armed_for_every_change_and_stopped_by_a_new_login_alone(host, opened):
    target = opened()
    target.prepare()
    was = host.everything()
    host.stop_listening()
    target.apply("one", [SCRIPT], PATHS)
    journal = host.root / "var/lib/temper/journal/one"
    assert (journal / "armed").exists()
    assert not (journal / "disarmed").exists()
    host.ends_the_wait_of("one")
    until((journal / "undone").exists)
    until(lambda: (journal / "undone").read_text() == "timer\n")
    until(lambda: host.everything() == was)


def test_a_fresh_sshd_that_cannot_be_begun_says_why_and_the_line_goes_on(host, opened):
    target = opened()
    target.prepare(changes=False)
    assert "does not answer a login inside of the line" in service_activator.try_test_sshd_and_explain_refusal(
        target.line, target.line.end
    )
    assert target.line.run_text("echo still").text == "still\n"
