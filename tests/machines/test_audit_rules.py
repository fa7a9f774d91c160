"""Generated files of audit rules, loaded by auditctl into a real kernel: Temper foresees where each ends."""

import asyncio
from random import Random

import pytest

from app.syntax import audit_rule_files
from app.targets.effects.audit_load_simulation import load_audit_lines
from tests.hostfiles import DictFiles
from tests.hosts.over_ssh import OverSsh
from tests.machines.audit_files import LOAD_ALL, PIECES, Loaded, make_file, pack_files, read_answers
from tests.machines.conftest import ask_root
from tests.thorough import examples

HOURS = 6
pytestmark = [pytest.mark.machines, pytest.mark.timeout(HOURS * 3600)]

USUAL, AT_NIGHT, AT_ONCE = 300, 10_000, 100
NAMES = ("/etc/passwd", "/etc/group")
FOLDERS = (*PIECES["folders"], "/usr/lib/x86_64-linux-gnu", "/etc")


def read_host(machine):
    """What decides how rules load there: accounts, and which folders exist."""
    asked = "".join(f"[ ! -d {folder} ] || echo {folder}; " for folder in FOLDERS)
    texts = {path: ask_root(machine, f"cat {path}") + "\n" for path in NAMES}
    return DictFiles(texts, ask_root(machine, asked).split("\n"))


def load_there(machine, texts):
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", LOAD_ALL], 3600, pack_files(texts)))
    assert ran.code == 0, ran.stderr
    return read_answers(texts, ran.stdout.decode("utf-8", "surrogateescape"))


def find_difference(files, theirs: Loaded) -> str:
    lines = audit_rule_files.parse_audit_lines(theirs.text, "")
    faults = load_audit_lines(lines, files).faults
    stop = faults[0].line.line if faults else 0
    if stop != theirs.stopped_at:
        told = f"{theirs.text!r} {faults[:1]} {theirs.said[-300:]!r}"
        return f"ours ends at line {stop}, theirs at {theirs.stopped_at}: {told}"
    ours = load_audit_lines(lines, files).rules
    fits = stop or theirs.rules == len(ours)
    return "" if fits else f"ours has {ours}, theirs {theirs.rules}: {theirs.text!r}"


def test_rules_load_as_foreseen(machine, request):
    machine.reset()
    files, count = read_host(machine), request.config.getoption("--rule-files") or examples(USUAL, AT_NIGHT)
    texts = [make_file(Random(f"1.{number}")) for number in range(count)]
    loaded = [one for at in range(0, count, AT_ONCE) for one in load_there(machine, texts[at : at + AT_ONCE])]
    assert len(loaded) == count
    assert sum(one.stopped_at > 0 for one in loaded) > count // 3
    assert [found for one in loaded if (found := find_difference(files, one))] == []
