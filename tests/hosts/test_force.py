"""On a real Debian: what is called done was read by the daemon that everybody depends on, wherever it keeps itself."""

import time

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import SetOption
from app.targets.ssh import service_activator
from tests.hosts.conftest import inside, root_may_log_in

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

SSHD = "/etc/ssh/sshd_config"
NO_ROOT = SetOption(path=SSHD, key="PermitRootLogin", value="no")
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
PATHS = frozenset({SSHD})
OTHER_PID_FILE = f"""sed -i '1i PidFile /run/other.pid' {SSHD}
kill -HUP $(cat /run/sshd.pid)
until [ -s /run/other.pid ]; do sleep 0.05; done
rm -f /run/sshd.pid"""
RENAMED = """mv /usr/sbin/sshd /usr/sbin/sshd-of-ours
printf '#!/bin/sh\\nexec /usr/sbin/sshd-of-ours %s "$@"\\n' >/usr/sbin/sshd
chmod 755 /usr/sbin/sshd
sed -i '1i PidFile none' /etc/ssh/sshd_config
cp /etc/ssh/sshd_config /etc/ssh/other_config
rm -f /run/sshd.pid"""
"""Under another name, as another unit would have it; and it tells nobody who it is."""


def read_by_whoever_listens(opened, machine):
    opened.prepare()
    assert root_may_log_in(machine)
    opened.apply("one", [NO_ROOT], PATHS)
    assert not root_may_log_in(machine)
    assert [one.name for one in opened.check_health() if not one.ok] == ["login-root"]
    assert opened.roll_back("one").differences == ()
    assert root_may_log_in(machine)


def test_a_sshd_with_another_pid_file_is_found_by_its_socket(opened, machine):
    inside(machine, OTHER_PID_FILE)
    read_by_whoever_listens(opened, machine)


def test_a_sshd_of_another_name_is_found_by_its_socket(opened, machine):
    inside(machine, RENAMED % "")
    _started_anew(machine)
    assert "sshd-of-ours" in inside(machine, "cat /proc/[0-9]*/comm")
    read_by_whoever_listens(opened, machine)


def test_a_sshd_that_reads_another_file_is_no_success(opened, machine):
    inside(machine, RENAMED % "-f /etc/ssh/other_config")
    _started_anew(machine)
    opened.prepare()
    with pytest.raises(ActionFailed, match="reads /etc/ssh/other_config, not /etc/ssh/sshd_config"):
        opened.apply("one", [NO_ROOT], PATHS)
    assert opened.roll_back("one").differences == ()


def test_where_nothing_shows_a_reload_a_new_sshd_is_asked_for_every_login_that_is_watched(opened, machine):
    """It is stopped: it hears of the change, and reads nothing."""
    opened.prepare()
    inside(machine, "kill -STOP $(cat /run/sshd.pid)")
    try:
        with pytest.raises(ActionFailed, match=r"nothing shows that the sshd .* a new one would shut root out"):
            opened.apply("one", [NO_ROOT], PATHS)
        assert opened.roll_back("one").differences == ()
    finally:
        opened.line.run_text("kill -CONT $(cat /run/sshd.pid)")
    deadline = time.monotonic() + 10
    while not root_may_log_in(machine):  # it begins anew, and is deaf for that moment
        assert time.monotonic() < deadline


def test_a_sshd_begun_for_one_login_tells_what_the_next_restart_would_do(opened, machine):
    opened.prepare()
    us = opened.line.end
    assert service_activator.list_users_accepted_by_test_sshd(opened.line) == {"temper", "root"}
    inside(machine, f"sed -i '1i DenyUsers temper' {SSHD}")
    assert "refuses the login of temper" in service_activator.try_test_sshd_and_explain_refusal(opened.line, us)
    assert service_activator.list_users_accepted_by_test_sshd(opened.line) == {"root"}
    assert "temper" in inside(machine, "id -un temper")  # the one that listens has not read it
    inside(machine, f"sed -i '1s/.*/Nonsense yes/' {SSHD}")
    assert "1 bad configuration options" in service_activator.try_test_sshd_and_explain_refusal(opened.line, us)
    with pytest.raises(ActionFailed, match=r"refuses it|parse|sshd would not start again|Nonsense"):
        opened.apply("one", [NO_X11], PATHS)


def _started_anew(machine):
    machine.stop()
    machine.start()
