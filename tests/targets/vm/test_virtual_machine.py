"""A machine as far as it goes without QEMU: tests/machines has the rest."""

import re
from pathlib import Path

import msgspec
import pytest

from app.config import PACKAGE
from app.errors import BadInput, EnvironmentUnusable
from app.targets.rootfs.pid_file_process import DetachedProcess
from app.targets.vm.accelerator import Accelerator
from app.targets.vm.virtual_machine import BEFORE_REBOOT, MachineRecord, MachineSnapshot, VirtualMachine, list_machines


@pytest.fixture
def machine(tmp_path):
    """A built machine that was never started, as its folder has it."""
    one = VirtualMachine(tmp_path, "one")
    one.folder.mkdir()
    write_record(one, MachineRecord(kind="debian12", base="b", memory=1024, port=2222))
    return one


def write_record(machine, record):
    (machine.folder / "machine.json").write_bytes(msgspec.json.encode(record))


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a" * 40, "bases", "trial", "a\n"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(BadInput, match="not a valid name for a machine"):
        VirtualMachine(tmp_path, name)


def test_what_is_not_built_is_said(tmp_path):
    machine = VirtualMachine(tmp_path, "one")
    for act in (machine.start, machine.reset, machine.reboot, machine.get_access, lambda: machine.read_console(9)):
        with pytest.raises(BadInput, match="temper machine build one"):
            act()
    machine.stop()
    machine.discard()
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_is_said_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentUnusable, match=r"cannot be built here\. .*apt-get install qemu-system-x86"):
        VirtualMachine(tmp_path / "machines", "one").build()
    assert list(tmp_path.iterdir()) == []


def test_two_accounts_log_in_each_with_its_own_key_of_the_image(machine, tmp_path):
    own, root = machine.get_access(), machine.get_access("root")
    assert (own.account, own.port, own.key) == ("temper", 2222, tmp_path / "bases/b/temper")
    assert (root.account, root.key) == ("root", tmp_path / "bases/b/backup")


PANIC = "---[ end Kernel panic - not syncing: IO-APIC + timer doesn't work! ]---"


@pytest.mark.parametrize(("earlier", "now", "starts"), [("", PANIC, False), (PANIC, "Booting", True)])
def test_a_start_ends_when_the_kernel_panics_and_not_for_an_earlier_panic(machine, monkeypatch, earlier, now, starts):
    """It does not wait for a login until the deadline, which is minutes where a processor is emulated."""
    at, begun, console = "app.targets.vm.virtual_machine", [], machine.folder / "console.log"
    monkeypatch.setattr(f"{at}.list_missing_program_sentences", list)
    monkeypatch.setattr(f"{at}.choose_accelerator", lambda: Accelerator("tcg", "", 3600))
    monkeypatch.setattr(f"{at}.can_reach_sshd_within", lambda _port, _seconds, goes_on: goes_on())
    monkeypatch.setattr(VirtualMachine, "_assign_port_and_renew_disks_if_unloadable", lambda *_: None)
    monkeypatch.setattr(VirtualMachine, "_finish_start", lambda *_: None)
    monkeypatch.setattr(VirtualMachine, "is_up", property(lambda _: bool(begun)))
    (machine.folder / "qemu.log").touch()
    console.write_text(f"{earlier}\n")

    def start_qemu(*_, **__):
        begun.append(True)
        with console.open("a") as file:
            file.write(f"{now}\n")

    monkeypatch.setattr(VirtualMachine, "_start_qemu", start_qemu)
    if starts:
        assert machine.start() == machine.get_access()
    else:
        with pytest.raises(EnvironmentUnusable, match=r"one does not start: ---. end Kernel panic"):
            machine.start()


def test_the_console_is_shown_without_control_sequences(machine):
    assert machine.read_console(100) == ""
    (machine.folder / "console.log").write_bytes(b"old\n[\x1b[0;32m  OK  \x1b[0m] Started \xff\x07sshd\n")
    assert machine.read_console(100) == "old\n[  OK  ] Started \N{REPLACEMENT CHARACTER}sshd\n"
    assert len(machine.read_console(8)) <= 8


@pytest.mark.parametrize("label", ["pristine", "a b", "-x", "one;quit"])
def test_a_snapshots_name_cannot_be_another_command(machine, label):
    with pytest.raises(BadInput, match="cannot be a snapshot's name"):
        machine.take_snapshot(label)


def test_only_a_machine_that_runs_is_kept_and_only_what_was_kept_comes_back(machine):
    with pytest.raises(BadInput, match="is not running"):
        machine.take_snapshot("before")
    with pytest.raises(BadInput, match="no snapshot 'before'"):
        machine.reset("before")


def test_a_stopped_machine_begins_the_next_time_where_its_snapshot_was_taken(machine):
    kept = {"pristine": MachineSnapshot(1.0, "tcg"), "before": MachineSnapshot(2.0, "tcg")}
    write_record(machine, MachineRecord(kind="debian12", base="b", memory=1024, snapshots=kept))
    machine.reset("before")
    assert machine.read_record().resume_from == "before"
    machine.reset()
    assert machine.read_record().resume_from == "pristine"


def test_a_machine_keeps_the_emulated_processor_that_its_snapshots_were_taken_with(machine, monkeypatch):
    commands = []
    monkeypatch.setattr(DetachedProcess, "start", lambda _, command, *__: commands.append(command))
    of_before = {"kind": "debian12", "base": "b", "memory": 512, "accelerator": "tcg"}
    for fields in (of_before, {**of_before, "emulated_cpu": "qemu64"}):
        (machine.folder / "machine.json").write_bytes(msgspec.json.encode(fields))
        machine._start_qemu(machine.read_record(), is_tied=False)
    assert [command[command.index("-cpu") + 1] for command in commands] == ["max", "qemu64"]


class Started(Exception):
    """Instead of QEMU: with which accelerator it would start, and from which snapshot."""


@pytest.fixture
def start_by(machine, monkeypatch):
    """Write a record with snapshots, each taken with the accelerator named, and say which one works best now."""

    def start_qemu(_, record, **__):
        raise Started(record.accelerator, record.resume_from)

    def prepare(best, **accelerators):
        at = "app.targets.vm.virtual_machine"
        monkeypatch.setattr(f"{at}.list_missing_program_sentences", list)
        monkeypatch.setattr(f"{at}.choose_accelerator", lambda: Accelerator(best, "the best here", 60))
        monkeypatch.setattr(f"{at}.run_command_or_raise", lambda *_: None)
        monkeypatch.setattr(VirtualMachine, "_start_qemu", start_qemu)
        kept = {label.replace("_", "-"): MachineSnapshot(1.0, name) for label, name in accelerators.items()}
        record = MachineRecord(kind="debian12", base="b", memory=512, port=2222, accelerator=best, snapshots=kept)
        write_record(machine, record)
        keys = machine.base_image_folder / "host-keys"
        keys.parent.mkdir(parents=True)
        keys.touch()
        (machine.folder / "root.qcow2").touch()
        return record.snapshots

    return prepare


def test_a_snapshot_whose_accelerator_does_not_work_here_is_not_given_up(machine, start_by):
    kept = start_by("tcg", pristine="tcg", before="kvm")
    machine.reset("before")
    with pytest.raises(EnvironmentUnusable, match=r"before was taken with KVM.*software emulation \(the best here\)"):
        machine.start()
    assert machine.read_record().snapshots == kept
    assert (machine.folder / "root.qcow2").exists()
    machine.reset()
    with pytest.raises(Started, match="'tcg', 'pristine'"):
        machine.start()


def test_a_machine_that_runs_goes_on_if_its_snapshot_cannot_be_loaded(machine, start_by):
    start_by("tcg", before="kvm")
    stand_in = DetachedProcess(machine.folder / "pid")
    stand_in.start(["sleep", "60"], Path("/dev/null"), machine.folder / "qemu.log")
    with pytest.raises(EnvironmentUnusable, match="before was taken with KVM"):
        machine.reset("before")
    assert machine.is_up
    assert machine.read_record().resume_from == ""
    stand_in.kill_tree()


def test_an_emulated_snapshot_is_loaded_by_emulation_where_kvm_is_better(machine, start_by):
    kept = start_by("kvm", pristine="kvm", before_reboot="tcg")
    stand_in = DetachedProcess(machine.folder / "pid")
    stand_in.start(["sleep", "60"], Path("/dev/null"), machine.folder / "qemu.log")
    with pytest.raises(Started, match="'tcg', 'before-reboot'"):
        machine.reset(BEFORE_REBOOT)
    assert not machine.is_up
    assert machine.read_record().snapshots == kept


def test_a_first_boot_of_another_accelerator_is_repeated_unless_that_loses_a_snapshot_of_the_users(machine, start_by):
    told = []
    machine._report = told.append
    kept = start_by("tcg", pristine="kvm", before_reboot="kvm", mine="tcg")
    machine.reset()
    with pytest.raises(EnvironmentUnusable, match="pristine was taken with KVM"):
        machine.start()
    assert machine.read_record().snapshots == kept
    record = machine.read_record()
    del record.snapshots["mine"]
    write_record(machine, record)
    with pytest.raises(Started, match="'tcg', ''"):
        machine.start()
    assert machine.read_record().snapshots == {}
    assert "cannot be loaded" in told[0]


def test_those_that_are_built_are_listed_and_images_are_not(machine, tmp_path):
    (tmp_path / "bases").mkdir()
    VirtualMachine(tmp_path, "unfinished").folder.mkdir()
    assert [one.name for one in list_machines(tmp_path)] == ["one"]
    assert list_machines(tmp_path / "none") == []
    machine.discard()
    assert list_machines(tmp_path) == []


def test_the_documents_build_machines_whose_names_are_taken(tmp_path):
    page = (PACKAGE.parent / "docs/machines.md").read_text()
    names = re.findall(r"temper machine build ([a-z]+)", page)
    assert names
    assert [VirtualMachine(tmp_path, name).name for name in names] == names


def test_the_snapshot_before_a_reboot_takes_no_place_of_the_users(machine):
    kept = {f"s{number}": MachineSnapshot(1.0, "tcg") for number in range(8)}
    write_record(machine, MachineRecord(kind="debian12", base="b", memory=1024, port=2222, snapshots=kept))
    stand_in = DetachedProcess(machine.folder / "pid")
    stand_in.start(["sleep", "60"], Path("/dev/null"), machine.folder / "qemu.log")
    assert machine.is_up
    with pytest.raises(BadInput, match="snapshots, the maximum"):
        machine.take_snapshot("ninth")
    with pytest.raises(EnvironmentUnusable, match="monitor of one does not answer"):
        machine.take_snapshot(BEFORE_REBOOT)
    stand_in.kill_tree()
