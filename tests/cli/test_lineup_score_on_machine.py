"""`temper score … --host NAME`: which fixes a baseline has run on the machine, seen where ssh would take them there."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from app.cli import debian_demo, lineup_score_on_machine
from app.cli.lineup_score_on_machine import _apply_vendor_fix, choose_skill, find_content
from app.config import Settings
from app.errors import BadInput
from app.scores.score_structures import ScoreOrder
from app.scores.vendor_fixes_on_vm import FixesOnMachine, MachineJudge
from app.syntax.host_files_protocol import FileState
from app.targets.crash_safe_writes import Disk
from app.targets.host_registry import list_pending_changes
from app.targets.journal import Journal
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.vm.virtual_machine import MachineRecord, VirtualMachine
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


def build_record(tmp_path, kind):
    machine = VirtualMachine(tmp_path, "boots")
    machine.folder.mkdir()
    record = MachineRecord(kind=kind, base="image", memory=1024)
    (machine.folder / "machine.json").write_bytes(msgspec.json.encode(record))
    return machine


@pytest.mark.parametrize(
    ("kind", "asked", "skill"),
    [
        ("debian12", "", "scap:ssg-debian12:anssi_bp28_enhanced"),
        ("el9", "", "scap:ssg-rhel9:stig"),
        ("el9", "scap:disa:MAC-1_Public", "scap:disa:MAC-1_Public"),
    ],
)
def test_a_virtual_machine_has_the_whole_profile_of_its_content_unless_another_skill_is_named(
    tmp_path, kind, asked, skill
):
    machine = build_record(tmp_path, kind)
    assert choose_skill(machine, asked) == skill
    assert find_content(machine).parent == tmp_path / "bases" / "image"
    with pytest.raises(BadInput, match="scap:CONTENT:PROFILE"):
        choose_skill(machine, "stig")
    with pytest.raises(BadInput, match="leave --skill out"):
        choose_skill(Rootfs(tmp_path, "vault"), "stig")


@pytest.mark.parametrize(("rules", "scanned"), [(("V-1",), ["id-1"]), (("V-1", "V-2"), [])])
async def test_a_vendors_fixes_are_judged_by_the_skill_and_rules_that_were_asked_for(
    tmp_path, monkeypatch, rules, scanned
):
    known = {"V-1": SimpleNamespace(stig_id="id-1"), "V-2": SimpleNamespace(stig_id="id-2")}
    monkeypatch.setattr(lineup_score_on_machine, "load_skill", lambda _: SimpleNamespace(rules=known))
    monkeypatch.setattr(lineup_score_on_machine, "require_datastream", lambda name: Path(f"/there/{name}-ds.xml"))
    monkeypatch.setattr(lineup_score_on_machine, "select_rules", lambda rules, skill: (skill, rules))
    asked = []
    monkeypatch.setattr(lineup_score_on_machine, "run_fixes_and_reboot", lambda *words: asked.append(words))
    order = ScoreOrder(
        label="bash", kind="baseline", skill="scap:disa:MAC-1_Public", rules=rules, seeds=1, hosts=1, host="boots"
    )
    await _apply_vendor_fix(machine := build_record(tmp_path, "el9"), "bash", order, "")
    fixes = FixesOnMachine("bash", "ssg-rhel9-ds.xml", "stig", ("scap:ssg-rhel9:stig", ""))
    assert asked == [(machine, fixes, MachineJudge(Path("/there/disa-ds.xml"), "MAC-1_Public", scanned))]


def test_a_change_that_a_killed_score_left_open_is_not_rolled_back_on_the_machine_that_is_reset(tmp_path, monkeypatch):
    settings, done = Settings(data=tmp_path), []
    (settings.hosts_folder / "boots").mkdir(parents=True)
    journal = Journal(settings.hosts_folder / "boots" / "journal", Disk())
    journal.begin("open", {"/etc/x": FileState(b"a", 0o644, "root:root")}, {"/etc/x": None}, ())
    machine = SimpleNamespace(
        name="boots",
        reset=lambda: done.append("reset"),
        start=lambda **_: done.append("start"),
        get_current_image_of_kind=lambda: SimpleNamespace(title="a machine"),
    )
    monkeypatch.setattr(debian_demo, "register_machine", lambda *_: None)
    monkeypatch.setattr(
        lineup_score_on_machine, "open_target", lambda name, folder: done.append(list_pending_changes(folder, name))
    )
    lineup_score_on_machine._reset_and_open_target(settings, machine)
    assert done == ["reset", "start", []]
