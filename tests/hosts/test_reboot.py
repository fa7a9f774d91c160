"""On a real Debian: what a run made holds after the machine began anew, and a reload that is held back is noticed."""

import pytest

from tests.hosts.conftest import inside

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(900)]

NO_X11 = "V-258007"
SSHD = "/etc/ssh/sshd_config"


def force(events):
    return [event for event in events if event["kind"] == "force"]


def checked(site):
    done = site.temper("host", "reboot-check", "deb")
    (found,) = [event for event in site.events() if event["kind"] == "reboot.checked"]
    return done, found


def test_a_run_is_looked_at_again_before_and_after_its_host_began_anew(site, machine):
    done = site.temper("run", "--host", "deb", "--mode", "auto", "--rules", NO_X11, "--speed", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    began, changed = force(site.events())
    assert began["boot"] == inside(machine, "cat /proc/sys/kernel/random/boot_id")
    assert (changed["rule"], changed["asked"], changed["behind"]) == (NO_X11, ["sshd"], [])

    inside(machine, f"sed -i '1i MaxAuthTries 3' {SSHD}")  # and sshd is not told
    done, found = checked(site)
    assert (found["rebooted"], found["slipped"], found["boot_now"]) == (False, [], began["boot"])
    assert [(one["setting"], one["by"]) for one in found["behind"]] == [(SSHD, "a reload of sshd")]
    assert "has not rebooted" in done.stdout
    assert "a reload of sshd" in done.stdout

    machine.stop()
    machine.start()
    done, found = checked(site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (found["rebooted"], found["slipped"], found["behind"], found["worse"]) == (True, [], [], "")
    assert found["boot_before"] == began["boot"] != found["boot_now"]

    inside(machine, f"sed -i '1i X11Forwarding yes' {SSHD}")
    done, found = checked(site)
    assert (done.returncode, found["slipped"]) == (2, [NO_X11])
    assert f"no longer hold: {NO_X11}" in " ".join(done.stdout.split())
