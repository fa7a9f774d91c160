"""How QEMU runs a machine's processor here: by KVM where that works, else in software."""

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.text.clean import get_last_line

QEMU = "qemu-system-x86_64"
_TRIAL = bytes.fromhex("66b9404b4c00664975fcba0105b010eef4").ljust(510, b"\0") + b"\x55\xaa"
"""A boot sector that counts to five million and ends QEMU: mov ecx, 5000000; dec ecx; jnz; mov dx, 0x501; mov al, 0x10;
out dx, al; hlt. Some hosts have a KVM that interprets the guest's instructions: it starts guests, and boots none."""
_ENDED_BY_GUEST = 0x10 << 1 | 1
_TRIAL_SECONDS, _FAST, _PATIENCE, _SLOWER = 15.0, 0.5, 3.0, 3.0
"""Emulate in software if the trial of KVM is not fast and takes so many times as long as emulation. It is not waited
for longer than that, and at least for _PATIENCE."""


@dataclass(frozen=True)
class Accelerator:
    name: str
    """"kvm" or "tcg", as QEMU calls them."""
    reason: str
    boot_seconds: int
    """About how long a machine takes to boot."""

    def __str__(self) -> str:
        return f"{'KVM' if self.name == 'kvm' else 'software emulation'} ({self.reason})"


def list_missing_program_sentences() -> list[str]:
    """Return a sentence for each program that virtual machines lack here, with the package that has it."""
    needed = {
        QEMU: "qemu-system-x86",
        "qemu-img": "qemu-utils",
        "mke2fs": "e2fsprogs",
        "setpriv": "util-linux",
        "ssh": "openssh-client",
    }
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    return [
        f"{program} is not installed: apt-get install {package}."
        for program, package in needed.items()
        if not shutil.which(program, path=path)
    ]


@cache
def choose_accelerator(device: Path = Path("/dev/kvm")) -> Accelerator:
    """Try KVM with a guest of one sector, and return software emulation unless KVM runs it, and fast enough."""
    if not device.exists():
        return choose_emulation(f"there is no {device}")
    if not os.access(device, os.R_OK | os.W_OK):
        return choose_emulation(f"this account may not use {device}; its group is kvm")
    emulated, _ = _time_trial_and_explain_failure("tcg", _TRIAL_SECONDS)
    patience = _TRIAL_SECONDS if emulated is None else max(_PATIENCE, _SLOWER * emulated)
    by_kvm, said = _time_trial_and_explain_failure("kvm", patience)
    beside = "" if emulated is None else f"; emulation runs one in {emulated:.1f} s"
    if by_kvm is None:
        return choose_emulation(f"{device} is there and runs no guest{f': {said}' if said else ''}{beside}")
    if emulated is not None and by_kvm > _FAST and by_kvm > _SLOWER * emulated:
        return choose_emulation(f"{device} runs a guest in {by_kvm:.1f} s{beside}")
    return Accelerator("kvm", f"a guest ran in {by_kvm:.1f} s", 10)


def choose_emulation(reason: str) -> Accelerator:
    return Accelerator("tcg", reason, 60)


def _time_trial_and_explain_failure(accelerator: str, patience: float) -> tuple[float | None, str]:
    """Return the seconds until a guest of one sector has ended, or None and QEMU's last line if it does not end."""
    with tempfile.NamedTemporaryFile(prefix="temper-trial-") as disk:
        disk.write(_TRIAL)
        disk.flush()
        command = [
            *(QEMU, "-accel", accelerator, "-M", "pc", "-m", "16", "-nodefaults", "-no-user-config"),
            *("-display", "none", "-device", "isa-debug-exit,iobase=0x501,iosize=1"),
            *("-drive", f"file={disk.name},format=raw,if=ide"),
        ]
        began = time.monotonic()
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
        except FileNotFoundError as exc:
            raise EnvironmentUnusable(" ".join(list_missing_program_sentences())) from exc
        except subprocess.TimeoutExpired:
            return None, f"one did not end within {patience:.0f} s"
    if ran.returncode != _ENDED_BY_GUEST:
        return None, get_last_line(ran.stderr, 160)
    return time.monotonic() - began, ""
