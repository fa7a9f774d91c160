"""`temper demo --vm` and `temper machine`, as far as they go without a machine: tests/machines has the rest."""

import json
import os

import asyncssh
import msgspec

from app.cli.debian_demo import register_machine
from app.config import Settings
from app.targets import host_registry
from app.targets.vm.virtual_machine import MachineRecord, MachineSnapshot, VirtualMachine
from tests.forkserver import temper


def test_what_is_missing_for_a_virtual_machine_is_said_with_what_helps(tmp_path):
    words = ("demo", "--vm", "--data", tmp_path, "--port", "0")
    done = temper(*words, env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("temper: A virtual machine cannot be built here.")
    assert "apt-get install qemu-system-x86" in said
    assert "apt-get install mmdebstrap" in said


def test_machines_are_listed_with_what_they_can_return_to(tmp_path):
    machine = VirtualMachine(tmp_path / "machines", "one")
    machine.folder.mkdir(parents=True)
    kept = {"pristine": MachineSnapshot(1.0, "tcg")}
    record = MachineRecord(kind="debian12", base="b", memory=768, accelerator="tcg", boot_seconds=61, snapshots=kept)
    (machine.folder / "machine.json").write_bytes(msgspec.json.encode(record))
    (row,) = json.loads(temper("machine", "list", "--json", "--data", tmp_path).stdout)
    assert (row["name"], row["state"], row["memory_mb"], row["boot_seconds"]) == ("one", "stopped", 768, 61)
    assert row["snapshots"].startswith("pristine (")
    assert "one is deleted." in temper("machine", "discard", "one", "--data", tmp_path).stdout
    assert json.loads(temper("machine", "list", "--json", "--data", tmp_path).stdout) == []


def test_the_console_of_a_machine_is_its_last_lines(tmp_path):
    machine = VirtualMachine(tmp_path / "machines", "one")
    machine.folder.mkdir(parents=True)
    (machine.folder / "machine.json").write_bytes(msgspec.json.encode(MachineRecord(kind="d", base="b", memory=512)))
    (machine.folder / "console.log").write_text("first\nsecond\n\x1b[1mthird\x1b[0m\n")
    done = temper("machine", "console", "one", "--lines", "2", "--data", tmp_path)
    assert done.stdout.splitlines() == ["second", "third"]


def test_a_machine_is_registered_as_disposable_also_where_an_older_version_had_added_it(tmp_path):
    settings, machine = Settings(data=tmp_path), VirtualMachine(tmp_path / "machines", "one")
    machine.folder.mkdir(parents=True)
    record = msgspec.json.encode(MachineRecord(kind="debian12", base="b", memory=768, port=2222))
    (machine.folder / "machine.json").write_bytes(record)
    public = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    (machine.folder / "known_hosts").write_text(f"[127.0.0.1]:2222 {public}\n")
    register_machine(settings, machine, machine.get_access())
    added = host_registry.find_host(settings.hosts_folder, "one")
    assert added.can_reboot_unasked
    host_registry.remove_host(settings.hosts_folder, "one")
    host_registry.register_host(settings.hosts_folder, "one", added.end, "", added.fingerprint)
    register_machine(settings, machine, machine.get_access())
    assert host_registry.find_host(settings.hosts_folder, "one").can_reboot_unasked
