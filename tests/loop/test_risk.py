"""What a change could break, by what it touches."""

from dataclasses import replace

import pytest

from app.events.event_field_types import AppendLine, Chmod, Reload, RemoveLine, SetOption, WriteFile
from app.events.kinds import ActionProposed
from app.loop.risk import HAZARDS, UNKNOWN, assess_risk, find_hazards
from app.resources.mount import AddMountOptions
from app.targets.writable_areas import JUDGES
from tests.loop.playing import rule

A = rule("A")


def risk(*actions, of=A, replayed=""):
    proposed = ActionProposed(
        rule="A", attempt=1, actions=actions, note="", fingerprint="f", diff="", replayed=replayed
    )
    return assess_risk(of, proposed)


@pytest.mark.parametrize(
    ("action", "breaks", "cuts"),
    [
        (SetOption(path="/etc/ssh/sshd_config.d/00.conf", key="Banner", value="x"), "remote login", True),
        (Reload(service="sshd"), "remote login", True),
        (Reload(service="ssh.service"), "remote login", True),
        (Reload(service="auditd"), "services", False),
        (AppendLine(path="/etc/pam.d/system-auth", line="x"), "passwords and logins", True),
        (Chmod(path="/etc/shadow", mode="0000"), "accounts", True),
        (RemoveLine(path="/etc/sudoers.d/ops", line="x"), "root rights", True),
        (SetOption(path="/etc/sysctl.d/9.conf", key="kernel.dmesg_restrict", value="1"), "kernel settings", False),
        (WriteFile(path="/etc/issue", content="hello"), "banners", False),
        (WriteFile(path="/etc/fstab", content=""), "something else", True),
    ],
)
def test_a_part_of_the_host_has_its_word(action, breaks, cuts):
    found = risk(action)
    assert (found.breaks, found.cuts_the_line) == ((breaks,), cuts)


@pytest.mark.parametrize("key", ["net.ipv4.ip_forward", "net/ipv4/ip_forward"])
def test_a_kernel_setting_of_the_network_cuts_the_line_in_either_spelling(key):
    for action in (
        SetOption(path="/etc/sysctl.conf", key=key, value="0"),
        RemoveLine(path="/etc/sysctl.d/9.conf", line=f"{key} = 1"),
        WriteFile(path="/etc/sysctl.d/9.conf", content=f"kernel.x = 1\n{key} = 0\n"),
    ):
        found = risk(action)
        assert (found.breaks, found.cuts_the_line) == (("network", "kernel settings"), True)


def test_what_is_not_known_is_taken_to_cut_the_line():
    assert list(find_hazards([AddMountOptions(mount="/tmp", options=("nodev",))])) == [UNKNOWN]
    assert list(find_hazards([Chmod(path="/opt/x", mode="0644")])) == [UNKNOWN]
    assert UNKNOWN.cuts_the_line


def test_these_parts_alone_leave_the_line_alone():
    harmless = {"services", "kernel settings", "kernel modules", "audit", "packages", "banners", "file permissions"}
    assert {one.word for one in HAZARDS if not one.cuts_the_line} == {*harmless, "the mission application"}


def test_every_file_that_may_change_has_a_word_of_its_own():
    for pattern, _ in JUDGES:
        path = pattern.replace("*", "x")
        assert list(find_hazards([Chmod(path=path, mode="0644")])) != [UNKNOWN], path
    assert len({one.word for one in HAZARDS}) == len(HAZARDS)


def test_the_rule_and_where_it_held_count_too():
    found = risk(Reload(service="auditd"), of=replace(A, irreversible=True, category="I"), replayed="r.A.1")
    assert (found.category, found.irreversible, found.replayed) == ("I", True, True)


def test_what_outlasts_a_rollback_and_what_nobody_judges_is_said_and_counts():
    proposed = ActionProposed(rule="A", attempt=1, actions=(), note="", fingerprint="f", diff="")
    found = assess_risk(A, proposed, ["/etc/cron.d/x", "/etc/ssh/sshd_config"], ["audit -e 2"])
    assert (found.irreversible, found.breaks, found.cuts_the_line) == (True, ("remote login", "something else"), True)
    assert found.warnings == (
        "audit -e 2 holds until the next boot, even after a rollback",
        "/etc/cron.d/x is none of the files that Temper judges: only modes and owners are checked",
    )
    assert not assess_risk(A, proposed, ["/etc/ssh/sshd_config"]).irreversible
