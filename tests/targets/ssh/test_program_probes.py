"""What a host says of itself, made into probes: its words are rows, and hostile ones are no more than that."""

from types import SimpleNamespace

import pytest

from app.loop.harm import describe_harm
from app.targets.host_accounts import read_host_accounts
from app.targets.ssh.connection import ScriptResult
from app.targets.ssh.host_script_output import parse_host_report
from app.targets.ssh.program_probes import build_probes, probe_programs
from tests.targets.hosts import host

FINE = [
    "sshd\t0\t",
    "visudo\t0\t/etc/sudoers: parsed OK",
    "pam\t0\t",
    "sudo\topsadmin\tcode 0",
    "sudo\topsadmin\tUser opsadmin may run the following commands on web:",
    "sudo\topsadmin\tSudoers entry:",
    "sudo\topsadmin\t    RunAsUsers: ALL",
    "sudo\topsadmin\t\tALL",
    "boot\t0\tmulti-user.target",
    "masked\tall\tcode 0",
    "masked\tall\tctrl-alt-del.target",
    "failed\tall\tcode 0",
    "failed\tall\tnoisy.service loaded failed failed Noisy",
    "fstab\t0\tabc123",
    "policy\tthere\ttargeted",
    "selinux\t0\tEnforcing",
    "audit\tall\tcode 0",
    "audit\tall\tenabled 1",
    "audit\tall\tfailure 1",
    "chpasswd\t1\tchpasswd: pam_chauthtok() failed, error: Authentication token manipulation error",
    "become\troot\tin",
    "become\ttemper\tin",
    "success\tsshd opsadmin\tin",
    "success\tlogin opsadmin\tin",
    "auth_err\tsshd opsadmin\t1 su: Authentication failure",
]


def of(rows):
    return build_probes(parse_host_report(rows), read_host_accounts(host()), ["opsadmin"])


def swapped(old, new):
    assert any(old in row for row in FINE)
    return [row.replace(old, new) for row in FINE]


def without(start):
    return [row for row in FINE if not row.startswith(start)]


def test_a_host_in_order_is_fine_and_holds_what_it_has():
    found = {probe.name: probe for probe in of(FINE)}
    assert [name for name, probe in found.items() if not probe.ok] == []
    assert found["sudo-rights"].holds == ("opsadmin: (ALL) ALL",)
    assert found["next-boot"].holds == ("/etc/fstab is abc123",)
    assert found["next-boot"].weak == ("ctrl-alt-del.target masked",)
    assert found["failed-units"].weak == ("noisy.service failed",)
    assert found["become"].holds == ("su from root to root", "su from root to temper")
    assert describe_harm(of(FINE), of(FINE)) is None


@pytest.mark.parametrize(
    ("rows", "harm"),
    [
        (swapped("sshd\t0\t", "sshd\t255\tbad line 3"), "sshd-starts: sshd refuses its files: bad line 3"),
        (swapped("visudo\t0", "visudo\t1"), "visudo: visudo refuses its files"),
        (swapped("pam\t0\t", "pam\t16\t pam_nowhere.so"), "pam-modules: /etc/pam.d names what is not installed"),
        (swapped("\t\tALL", "\t\t/bin/ls"), "sudo-rights: no longer: opsadmin: (ALL) ALL"),
        (without("sudo"), "sudo-rights: sudo does not say what opsadmin may"),
        (swapped("    RunAsUsers: ALL", "    Options: !authenticate"), "sudo-rights: no longer: opsadmin: (ALL) ALL"),
        (swapped("multi-user.target", "rescue.target"), "next-boot: the next boot goes to rescue.target"),
        (swapped("ctrl-alt-del.target", "sshd.service"), "next-boot: the next boot leaves out sshd"),
        (swapped("abc123", "def456"), "next-boot: no longer: /etc/fstab is abc123"),
        ([*FINE, "failed\tall\tchronyd.service loaded failed"], "failed-units: new: chronyd.service failed"),
        (
            swapped("policy\tthere\ttargeted", "policy\tabsent\tmls"),
            "selinux-boot: the next boot loads the SELinux policy",
        ),
        (swapped("Enforcing", "Permissive"), "selinux: no longer: SELinux is Enforcing"),
        (swapped("enabled 1", "enabled 0"), "audit: no longer: the kernel records"),
        (
            [*swapped("failure 1", "failure 2"), "audit\tall\tbacklog_wait_time 0"],
            "audit: the kernel stops at the first",
        ),
        (
            swapped("Authentication token manipulation error", "Module is unknown"),
            "password-change: no password can be",
        ),
        (swapped("become\ttemper\tin", "become\ttemper\t1 su: Module is unknown"), "become: su from root fails"),
        (swapped("become\ttemper\tin", "become\ttemper\t1 su: expired"), "become: no longer: su from root to temper"),
        (swapped("sshd opsadmin\tin", "sshd opsadmin\t1 su: no"), "password-login: no longer: sshd lets opsadmin in"),
        (
            swapped("opsadmin\tin", "opsadmin\t1 su: Permission denied"),
            "password-login: nobody is let in with the right",
        ),
        (
            swapped("1 su: Authentication failure", "in"),
            "password-login: with a wrong password everybody is let in: sshd",
        ),
        (
            swapped("sshd opsadmin\tin", "sshd opsadmin\t1 su: Module is unknown"),
            "password-login: a stack cannot be gone",
        ),
        (without("success"), "password-login: it can no longer be asked"),
    ],
)
def test_what_is_worse_than_at_the_beginning_is_harm(rows, harm):
    assert describe_harm(of(FINE), of(rows)).startswith(harm)


@pytest.mark.parametrize(
    "rows",
    [
        without("boot"),
        ["doors\tno\tthe host allows no mount namespace", *without("success")],
        ["sshd\t127\tnot found", "visudo\t127\t", "sudo\topsadmin\tcode 127"],
        ["no row", "\t\t", "fill\tmany\tnone", "audit\tall\tcode 0", "audit\tall\tenabled", "success\tsshd\tin", *FINE],
    ],
)
def test_what_cannot_be_known_is_no_alarm(rows):
    assert [probe for probe in of(rows) if not probe.ok and probe.name != "sudo-rights"] == []


def test_a_password_that_nobody_can_type_is_no_right():
    rows = [row.replace("opsadmin", "deploy") for row in FINE]
    asks = build_probes(parse_host_report(rows), read_host_accounts(host()), ["deploy"])
    assert next(probe for probe in asks if probe.name == "sudo-rights").holds == ()


class SaysInTurn:
    """A line on which `examine` answers with the next of `looks`."""

    end = SimpleNamespace(user="temper", watched=())

    def __init__(self, *looks):
        self.looks = list(looks)

    def run(self, name, *_names, seconds):
        assert name == "examine"
        assert seconds
        return ScriptResult(0, "\n".join(self.looks.pop(0)).encode(), "")


@pytest.mark.parametrize(("word", "name"), [("masked", "next-boot"), ("failed", "failed-units")])
@pytest.mark.parametrize("status", [124, 137])
def test_a_list_that_a_busy_host_cut_short_is_asked_for_once_more(word, name, status):
    cut = [*without(word), f"{word}\tall\tcode {status}"]
    line = SaysInTurn(cut, FINE)
    found, _ = probe_programs(line, host())
    assert next(probe for probe in found if probe.name == name).weak
    assert line.looks == []


@pytest.mark.parametrize("status", [124, 137])
def test_logins_that_a_slow_host_could_not_try_in_time_are_tried_once_more(status):
    line = SaysInTurn([*without("success"), f"doors\tall\tcode {status}"], FINE)
    found, _ = probe_programs(line, host())
    assert next(probe for probe in found if probe.name == "password-login").ok
    assert line.looks == []


def test_a_host_that_answers_is_asked_once_and_one_that_never_does_twice():
    once, twice = SaysInTurn(FINE, FINE), SaysInTurn(*[[*without("failed"), "failed\tall\tcode 124"]] * 3)
    probe_programs(once, host())
    found, _ = probe_programs(twice, host())
    assert (len(once.looks), len(twice.looks)) == (1, 1)
    assert "no failed unit is known" in next(probe for probe in found if probe.name == "failed-units").detail
