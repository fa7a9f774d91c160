"""`temper demo --rootfs`, as far as it goes without a machine: tests/hosts has the rest."""

import os

import asyncssh
import pytest

from app.cli import debian_demo
from app.config import Settings
from app.errors import BadInput
from app.runtime.data_folder import AlreadyInUse, hold_lock
from app.targets import host_registry
from app.targets.rootfs.rootfs_machine import Rootfs
from tests.forkserver import temper


@pytest.fixture
def settings(tmp_path):
    return Settings(data=tmp_path)


def laid_out(settings, port=2222):
    """What a built machine leaves on this side of its namespace."""
    machine = Rootfs(settings.data / "rootfs", "debian")
    machine.folder.mkdir(parents=True, exist_ok=True)
    public = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    (machine.folder / "port").write_text(str(port))
    (machine.folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    return machine


def test_the_machine_becomes_a_host_whose_root_login_is_watched(settings):
    machine = laid_out(settings)
    debian_demo.register_machine(settings, machine, machine.get_access())
    found = host_registry.find_host(settings.hosts_folder, "debian")
    assert (str(found.end), found.end.way) == ("temper@127.0.0.1:2222", "key")
    assert [(one.user, one.key) for one in found.end.watched] == [("root", str(machine.folder / "backup"))]
    assert "disposable Debian" in found.title
    assert (found.machine.kind, found.machine.folder) == ("rootfs", str(machine.folder))


def test_it_is_known_anew_when_its_port_is_another_one(settings):
    machine = laid_out(settings)
    debian_demo.register_machine(settings, machine, machine.get_access())
    first = host_registry.find_host(settings.hosts_folder, "debian")
    debian_demo.register_machine(settings, machine, machine.get_access())
    assert host_registry.find_host(settings.hosts_folder, "debian") == first
    machine = laid_out(settings, port=2223)
    debian_demo.register_machine(settings, machine, machine.get_access())
    assert str(host_registry.find_host(settings.hosts_folder, "debian").end) == "temper@127.0.0.1:2223"


def test_a_host_of_that_name_that_is_somebody_elses_is_left_alone(settings):
    machine = laid_out(settings)
    debian_demo.register_machine(settings, machine, machine.get_access())
    other = Rootfs(settings.data / "elsewhere", "debian")
    other.folder.mkdir(parents=True)
    for name in ("port", "known_hosts"):
        (other.folder / name).write_bytes((machine.folder / name).read_bytes())
    with pytest.raises(BadInput, match="--machine"):
        debian_demo.register_machine(settings, other, other.get_access())


def test_a_data_folder_that_is_worked_on_keeps_its_machine(settings, monkeypatch):
    monkeypatch.setenv("PATH", "")
    machine = laid_out(settings)
    (machine.folder / "pid").write_text("1 1")
    with hold_lock(settings.lock_path), pytest.raises(AlreadyInUse):
        debian_demo.serve_debian_demo(settings, "debian", start=True)
    assert (machine.folder / "pid").exists()


def test_what_is_missing_for_a_machine_is_said_with_what_helps(tmp_path):
    words = ("demo", "--rootfs", "--data", tmp_path, "--port", "0")
    done = temper(*words, env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("temper: A disposable machine cannot be built here.")
    assert "apt-get install mmdebstrap" in said
    assert "apt-get install openssh-client" in said


def test_the_whole_benchmark_is_ordered_without_a_model_and_without_a_pace(settings):
    some = debian_demo.create_demo_order(settings, "debian", "demo", ("accounts_tmout",))
    whole = debian_demo.create_demo_order(settings, "debian", "demo", None)
    assert (some.rules, some.engine, some.pace) == (("accounts_tmout",), "lineup", settings.speed)
    assert (whole.rules, whole.engine, whole.pace, whole.mode) == (None, "none", None, "auto")
