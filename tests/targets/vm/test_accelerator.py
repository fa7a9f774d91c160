"""What is tried, with programs of our own in QEMU's place: a machine of this kind may be there or not."""

import os

import pytest

from app.targets.vm.accelerator import QEMU, choose_accelerator, list_missing_program_sentences


@pytest.fixture(autouse=True)
def _forget_trials():
    choose_accelerator.cache_clear()
    yield
    choose_accelerator.cache_clear()


@pytest.fixture
def qemu(tmp_path, monkeypatch):
    """Put a script in QEMU's place; $2 is the accelerator."""

    def install(script):
        file = tmp_path / QEMU
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


@pytest.fixture
def device(tmp_path):
    file = tmp_path / "kvm"
    file.touch()
    return file


def test_without_the_device_machines_are_emulated(tmp_path):
    found = choose_accelerator(tmp_path / "none")
    assert (found.name, found.boot_seconds) == ("tcg", 60)
    assert str(found) == f"software emulation (there is no {tmp_path / 'none'})"


def test_kvm_is_used_if_a_guest_ran_to_its_end_by_it(qemu, device):
    qemu("exit 33")
    assert choose_accelerator(device).name == "kvm"


def test_a_kvm_that_starts_no_guest_is_not_used_and_its_reason_is_kept(qemu, device):
    qemu('[ "$2" = tcg ] && exit 33; echo "ioctl(KVM_CREATE_VM) failed: 16 Device or resource busy" >&2; exit 1')
    found = choose_accelerator(device)
    assert found.name == "tcg"
    assert "Device or resource busy" in found.reason


def test_a_kvm_that_is_slower_than_emulation_is_not_used(qemu, device, tmp_path):
    os.mkfifo(tmp_path / "never")
    qemu(f'[ "$2" = tcg ] || timeout 1 cat {tmp_path / "never"}; exit 33')
    found = choose_accelerator(device)
    assert found.name == "tcg"
    assert "emulation runs one in" in found.reason


def test_a_kvm_that_hangs_is_not_waited_for_much_longer_than_emulation_takes(qemu, device, tmp_path, monkeypatch):
    monkeypatch.setattr("app.targets.vm.accelerator._PATIENCE", 0.2)
    os.mkfifo(tmp_path / "never")
    qemu(f'[ "$2" = tcg ] && exit 33; exec cat {tmp_path / "never"}')
    found = choose_accelerator(device)
    assert found.name == "tcg"
    assert "did not end" in found.reason
    assert "emulation runs one in" in found.reason


def test_each_missing_program_is_named_with_its_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = list_missing_program_sentences()
    assert f"{QEMU} is not installed: apt-get install qemu-system-x86." in missing
    assert "qemu-img is not installed: apt-get install qemu-utils." in missing
