"""What the audit system would do to its own host."""

import pytest

from app.syntax.audit_rule_files import parse_audit_lines
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.health_probes import run_health_probes
from app.targets.questions.audit_halt_probes import is_audit_rule_too_broad
from app.targets.questions.probe_answer import DiskUsage
from tests.targets.hosts import TODAY, host

CONF, RULES = "/etc/audit/auditd.conf", "/etc/audit/rules.d/site.rules"
MIB = 2**20
FORTY = DiskUsage(1000 * MIB, 400 * MIB)


def disk(conf, fill=FORTY):
    return next(probe for probe in run_health_probes(host({CONF: conf}), TODAY, fill) if probe.name == "audit-disk")


def panic(rules):
    return next(probe for probe in run_health_probes(host({RULES: rules}), TODAY) if probe.name == "audit-panic")


@pytest.mark.parametrize(
    ("conf", "fine"),
    [
        ("space_left = 50%\nspace_left_action = halt\n", False),
        ("space_left = 9999\nspace_left_action = HALT\n", False),
        ("space_left = 400\nspace_left_action = single\n", False),
        ("SPACE_LEFT = 50%\nSpace_Left_Action = Halt\n", False),
        ("admin_space_left = 41%\nadmin_space_left_action = single\n", False),
        ("space_left = 39%\nspace_left_action = halt\n", True),
        ("space_left = 50%\nspace_left_action = email\n", True),
        ("admin_space_left = 5%\nadmin_space_left_action = single\n", True),
        ("disk_full_action = HALT\n", True),
        ("disk_full_action = HALT\nspace_left = 75\nspace_left_action = syslog\n", True),
    ],
)
def test_an_action_that_ends_the_host_counts_when_its_disk_is_that_full(conf, fine):
    found = disk(conf)
    assert found.ok is fine
    assert "400 of 1000 MiB are free" in found.detail


def test_a_full_disk_meets_the_action_for_it():
    full = DiskUsage(1000 * MIB, 0)
    assert not disk("disk_full_action = HALT\n", full).ok
    assert disk("disk_full_action = SUSPEND\n", full).ok
    found = disk("space_left_action = halt\n", full)
    assert (found.ok, "space_left_action at a full disk" in found.detail) == (False, True)


def test_what_cannot_be_known_is_said_and_no_alarm():
    found = disk("space_left = 99%\nspace_left_action = halt\n", None)
    assert (found.ok, "cannot be known" in found.detail) == (True, True)


def test_the_built_in_host_has_a_disk_that_is_so_full(tmp_path):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    conf = tmp_path / "root/etc/audit/auditd.conf"
    conf.chmod(0o640)
    text = conf.read_text()
    conf.write_text(text.replace("space_left_action = email", "space_left_action = halt"))
    (kept,) = [probe for probe in target.check_health() if probe.name == "audit-disk"]
    assert kept.ok
    halting = text.replace("space_left = 25%\nspace_left_action = email", "space_left = 50%\nspace_left_action = halt")
    conf.write_text(halting)
    (lost,) = [probe for probe in target.check_health() if probe.name == "audit-disk"]
    assert "goes to halt now and at each boot: space_left_action at space_left 50%" in lost.detail
    assert not lost.ok


@pytest.mark.parametrize(
    ("rules", "fine"),
    [
        ("-f 2\n--backlog_wait_time 0\n", False),
        ("-f2\n-b 8\n", False),
        ("-f 2\n-w /usr/lib64/libc.so.6 -p r -k x\n-e 2\n", False),
        ("-f 1\n--backlog_wait_time 0\n-w /usr/lib64/libc.so.6 -p r -k x\n", True),
        ("-b 8192\n--backlog_wait_time 60000\n-f 2\n-w /etc/shadow -p wa -k identity\n-e 2\n", True),
    ],
)
def test_a_kernel_that_stops_on_a_lost_record_must_not_lose_any(rules, fine):
    assert panic(rules).ok is fine


@pytest.mark.parametrize(
    ("line", "flood"),
    [
        ("-w /lib/x86_64-linux-gnu/libc.so.6 -p r", True),
        ("-w /etc", True),
        ("-w / -p rwxa -k all", True),
        ("-w /usr/bin/bash -p x", True),
        ("-a always,exit -F arch=b64 -S all", True),
        ("-a always,exit -F arch=b64 -S mount,open -k x", True),
        ("-a exit,always -F path=/usr/lib64/libc.so.6 -F perm=r", True),
        ("-a always,exit -F dir=/usr/lib -F perm=x", True),
        ("-a always,exit", True),
        ("-w /etc/shadow -p wa", False),
        ("-w /etc -p wa", False),
        ("-a always,exit -F path=/usr/bin/sudo -F perm=x -F auid>=1000", False),
        ("-a always,exit -F arch=b64 -S open,openat -F exit=-EACCES -F auid>=1000", False),
        ("-a always,exit -F arch=b64 -S init_module,delete_module -k modules", False),
        ("-a never,exit -F arch=b64 -S all", False),
        ("-D", False),
    ],
)
def test_what_every_program_does_all_day_is_a_flood(line, flood):
    (read,) = parse_audit_lines(line, RULES)
    assert is_audit_rule_too_broad(read) is flood
