"""Lines that a real kernel and auditctl were given, and what our model of both makes of them."""

import tomllib
from pathlib import Path

import pytest

from app.syntax import audit_rule_files
from app.targets.effects.audit_load_simulation import load_audit_lines
from tests.hostfiles import DictFiles

VERDICTS = tomllib.loads((Path(__file__).parents[2] / "data/audit_verdicts.toml").read_text())
PIECES = tomllib.loads((Path(__file__).parents[2] / "data/audit_lines.toml").read_text())
FIRST = "-D\n-w /etc/hostname -p wa -k first\n"
ACCOUNTS = {"/etc/passwd": "root:x:0:0::/root:/bin/sh\n", "/etc/group": "root:x:0:\n"}
FOLDERS = [folder for folder in PIECES["folders"] if folder != "/etc/nosuch"]


def load(*lines, texts=ACCOUNTS, folders=FOLDERS):
    return load_audit_lines(audit_rule_files.parse_audit_lines("\n".join(lines), "r"), DictFiles(texts, folders))


@pytest.mark.parametrize("verdict", ["loads", "stops"])
def test_each_line_ends_loading_as_in_the_kernel(verdict):
    assert len(VERDICTS[verdict]) > 150
    wrong = [line for line in VERDICTS[verdict] if bool(load(FIRST, line).faults) != (verdict == "stops")]
    assert wrong == []


def test_behind_a_line_that_ignores_errors_nothing_ends_loading():
    loaded = load("-i", "garbage", "-w /etc/nosuch/x", "-w /etc/passwd -p wa")
    assert loaded.faults == ()
    assert len(loaded.rules) == 1


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        (["-w /etc/x -p wa", "-W /etc/x -p wa"], 0),
        (["-w /etc/x -p wa", "-w /etc/y -p wa", "-D"], 0),
        (["-a always,exit -S mount -k x", "-d always,exit -S mount -k x", "-w /etc/x -p wa"], 1),
        (["-a exit,possible", "-w /etc/x -p wa"], 1),
        (["-w /etc/x", "-A always,exit -F path=/etc/x -F perm=rwxa"], 1),
        (["-a always,exit -F uid=root -S mount", "-w /etc/a\\ b -p wa"], 2),
    ],
)
def test_rules_that_are_taken_back_are_not_loaded(lines, rules):
    assert len(load(*lines).rules) == rules
    assert load(*lines).faults == ()


@pytest.mark.parametrize(
    "lines",
    [
        ["-w /etc/x", "-w /etc/x -p rwxa"],
        ["-w /etc/x -p wa -k a", "-a always,exit -F path=/etc/x -F perm=aw -F key=a"],
        ["-a always,exit -F auid!=-1 -S mount", "-a exit,always -F loginuid!=unset -S mount"],
        ["-a always,exit -F arch=b64 -S execve", "-a always,exit -F arch=c000003e -S EXECVE"],
        ["-a always,exit -C uid!=euid", "-a always,exit -C euid!=uid"],
        ["-a always,exit -F uid=root", "-a always,exit -F uid=0x0"],
    ],
)
def test_two_spellings_are_one_rule(lines):
    assert [fault.reason for fault in load(*lines).faults] == ["Rule exists"]
    assert [fault.line.words for fault in load(*lines).faults] == [tuple(lines[1].split())]


def test_a_path_that_is_not_utf_8_is_a_path():
    assert load("-w /etc/\udcff -p wa -k \udcff").faults == ()
    assert [fault.reason for fault in load(f"-a always,exit -F path=/etc/{chr(0xDCFF) * 256}").faults] == [
        "File name too long"
    ]


def test_a_line_is_read_for_each_machine_that_the_host_may_be():
    folders = [*FOLDERS, "/usr/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu"]
    (fault,) = load("-a always,exit -S chmod", folders=folders).faults
    assert fault.reason == "Syscall name unknown: chmod (on aarch64)"
    assert load("-a always,exit -S fchmodat", folders=folders).faults == ()
