"""The scripted stories on a real Debian: typed actions over SSH, OpenSCAP's verdicts, a watched login."""

import asyncio
import os
import signal

import httpx
import pytest

from app.cli.debian_demo import RULES
from app.targets.host_registry import open_target
from app.targets.rootfs.rootfs_machine import Rootfs
from tests.hosts.conftest import KEPT, Site
from tests.hosts.over_ssh import OverSsh
from tests.served import served

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(900)]

CONTENT = "usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
ROOT = "sshd_disable_root_login"
ESCALATED = {
    ROOT: ["alarm", "scanner", "refused"],
    "accounts_password_pam_unix_rounds_password_auth": ["vetoed", "refused", "scanner"],
}
LEARNT = {"accounts_tmout": ["scanner"]}
PASSED = {
    "accounts_password_pam_minlen": "grep -cE '^minlen *= *18$' /etc/security/pwquality.conf",
    "package_pam_pwquality_installed": "dpkg-query -W -f '${db:Status-Status}' libpam-pwquality | grep -cx installed",
    "accounts_password_pam_unix_remember": "grep -c 'pam_unix.so .* remember=2$' /etc/pam.d/common-password",
    "accounts_tmout": "grep -cx 'typeset -xr TMOUT=600' /etc/profile.d/tmout.sh",
    "accounts_umask_etc_login_defs": "grep -cP '^UMASK\\s+077$' /etc/login.defs",
    "file_permissions_sshd_config": "stat -c %a /etc/ssh/sshd_config | grep -cx 600",
    "set_password_hashing_algorithm_logindefs": "grep -cx 'ENCRYPT_METHOD YESCRYPT' /etc/login.defs",
    "sysctl_kernel_randomize_va_space": "cat /etc/sysctl.d/60-randomize.conf | wc -l",
    "sysctl_net_ipv4_icmp_ignore_bogus_error_responses": "cat /etc/sysctl.d/60-icmp.conf | wc -l",
    "sysctl_net_ipv4_tcp_syncookies": "cat /etc/sysctl.d/60-syncookies.conf | wc -l",
}
"""What stands on the host afterwards, asked by a way of our own: once, each of it."""
BEHIND_A_PACKAGE = {
    **{f"accounts_password_pam_{one}": ["scanner", "vetoed", "refused"] for one in ("dcredit", "minclass")},
    "accounts_password_pam_retry": ["vetoed", "vetoed", "refused"],
    "accounts_passwords_pam_faillock_deny": ["scanner", "scanner", "refused"],
    "accounts_passwords_pam_faillock_unlock_time": ["scanner", "scanner", "refused"],
    "accounts_password_set_max_life_root": ["refused", "refused", "refused"],
}


def of(events, kind):
    return [event for event in events if event["kind"] == kind]


def failures(events):
    found = {}
    for event in of(events, "attempt.failed"):
        found.setdefault(event["rule"], []).append(event["cause"])
    return found


def asked(machine, script):
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", script], 30))
    return ran.stdout.decode().strip()


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path, monkeypatch):
    """Without content of its own: the machine brings it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def data(tmp_path):
    """Where bases are kept already: the demo would build its own otherwise."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "rootfs").symlink_to(KEPT)
    return folder


def test_the_demo_on_a_real_debian_ends_as_the_scanner_says(data):
    machine = Rootfs(data / "rootfs", f"demo-{os.getpid()}")
    words = ("--rootfs", "--machine", machine.name, "--speed", "0")
    try:
        with served(data, *words, command="demo") as server:
            _seen_through(server)
            events = Site(data, machine).events()
            _ended_as_it_should(events)
            _holds_what_the_log_says(data, machine, events)
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(timeout=30) == 0
        assert not machine.is_up
        assert f"{machine.name} is stopped." in server.output()
    finally:
        machine.discard()


def _seen_through(server):
    """The stream ends with the run."""
    (run,) = server.runs()
    with httpx.stream("GET", f"{server.url}/api/v1/runs/{run}/stream", timeout=120) as stream:
        assert any('"run.finished"' in line for line in stream.iter_lines())


def _ended_as_it_should(events):
    assert events[0]["rules"] == list(RULES)
    verdicts = of(events, "verdict")
    assert {one["rule"] for one in verdicts if one["phase"] == "opening" and one["word"] == "fail"} == set(RULES)
    closing = {one["rule"]: one["word"] for one in verdicts if one["phase"] == "closing"}
    assert closing == dict.fromkeys(PASSED, "pass") | dict.fromkeys(ESCALATED, "fail")
    assert all(one["scanner"].startswith("OpenSCAP") for one in verdicts)
    assert failures(events) == ESCALATED | LEARNT
    alarm = next(one for one in of(events, "sentry.alarm") if one["rule"] == ROOT)
    assert alarm["reason"].startswith("login-root: new login as root")
    assert all(one["differences"] == [] for one in of(events, "action.rolled_back"))
    assert {one["rule"] for one in of(events, "item.escalated")} == set(ESCALATED)


def _holds_what_the_log_says(data, machine, events):
    assert {rule: asked(machine, script) for rule, script in PASSED.items()} == dict.fromkeys(PASSED, "1")
    assert asked(machine, "grep -rci '^permitrootlogin' /etc/ssh/sshd_config") == "0"
    assert asyncio.run(OverSsh(machine.get_access("root")).may_log_in())
    target = open_target(machine.name, data / "hosts")
    try:
        (finished,) = of(events, "run.finished")
        assert target.compute_digest() == finished["tree"]
        assert target.list_pending() == []
    finally:
        target.close()


def test_what_hangs_on_a_package_or_on_a_person_is_handed_on_and_leaves_nothing(site, machine):
    assert site.temper("scap", "add", str(machine.base_folder / CONTENT), data=False).returncode == 0
    rules = ("accounts_password_pam_unix_remember", *BEHIND_A_PACKAGE)
    words = ("--skill", "scap:ssg-debian12:anssi_bp28_minimal", "--rules", ",".join(rules))
    done = site.temper("run", "--host", "deb", "--mode", "auto", "--speed", "0", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    events = site.events()
    assert failures(events) == BEHIND_A_PACKAGE
    reasons = {one["rule"]: one["reason"] for one in of(events, "item.escalated")}
    assert set(reasons) == set(BEHIND_A_PACKAGE)
    assert all(
        "libpam-pwquality first" in reasons[rule] for rule in reasons if "pam_retry" in rule or "minclass" in rule
    )
    assert asked(machine, "ls /etc/security/pwquality.conf 2>&1 | grep -c 'No such file'") == "1"
    assert asked(machine, "grep -c faillock /etc/pam.d/common-auth") == "0"
