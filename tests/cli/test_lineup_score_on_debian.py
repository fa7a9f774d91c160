"""`temper score … --host NAME`: which fixes a baseline has run on the machine, seen where ssh would take them there."""

import pytest

from app.cli.lineup_score_on_debian import _apply_vendor_fix
from app.scores.score_structures import ScoreOrder
from app.targets.rootfs.rootfs_machine import Rootfs
from tests.scores.test_vendor_fixes import out


@pytest.mark.parametrize(("tool", "runs_fixes"), [("nothing", False), ("bash", True)])
async def test_only_who_fixes_something_has_a_script_generated(tmp_path, monkeypatch, tool, runs_fixes):
    (tmp_path / "answer").write_bytes(out("fail", "fail"))
    (ssh := tmp_path / "ssh").write_text(f"#!/bin/sh\ncat >{tmp_path}/script\ncat {tmp_path}/answer\n")
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    machine = Rootfs(tmp_path, "vault")
    machine.folder.mkdir()
    (machine.folder / "port").write_text("2222")
    order = ScoreOrder(label=tool, kind="baseline", skill="stig", rules=("a",), seeds=1, hosts=1, host="vault")
    await _apply_vendor_fix(machine, tool, order, "--rule a")
    assert ("generate fix" in (tmp_path / "script").read_text()) is runs_fixes
