"""QEMU's command line for a virtual machine, and the bounds of its memory. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import BadInput
from app.targets.vm.accelerator import QEMU
from app.targets.vm.machine_image_builder import BOOT_DISK
from app.targets.vm.qemu_monitor import SOCKET

EMULATED_CPU = "qemu64"
"""With what QEMU can emulate beyond it (AVX2, ERMS, SMAP, five levels of pages) a guest needs a quarter more time."""
LEAST_MEMORY, MOST_MEMORY = 512, 8192
CONSOLE = "console.log"
_GUEST = "10.0.2.15"
_RESERVE = 256
"""Megabytes that stay free for everything else here."""


@dataclass(frozen=True)
class QemuOptions:
    name: str
    accelerator: str
    memory: int
    port: int
    disks: Sequence[str]
    """Labels of the disks, the root first; LABEL.qcow2 in the machine's folder is the file."""
    base: str
    """The folder of the image, relative to the machine's."""
    emulated_cpu: str = EMULATED_CPU
    snapshot: str = ""
    """Begin in the middle: as the machine was when this snapshot was taken."""
    is_tied: bool = False
    """End when the process that started it ends, however that ends."""


def build_qemu_command(options: QemuOptions) -> list[str]:
    """Return the command, to be run in the machine's folder.

    The machine reaches nothing: its network has one way in, the forwarded port on loopback, and no way out.
    """
    is_emulated = options.accelerator == "tcg"
    fast, cpu = (",thread=multi,tb-size=256", options.emulated_cpu) if is_emulated else ("", "max")
    forward = f"hostfwd=tcp:127.0.0.1:{options.port}-{_GUEST}:22"
    command = [
        *(("setpriv", "--pdeathsig", "KILL") if options.is_tied else ()),
        *(QEMU, "-name", options.name, "-nodefaults", "-no-user-config", "-display", "none", "-M", "pc"),
        *("-accel", f"{options.accelerator}{fast}", "-cpu", cpu, "-smp", "2", "-m", str(options.memory)),
        *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"),
        *("-rtc", "base=utc", "-device", "virtio-rng-pci"),
        *("-netdev", f"user,id=net,restrict=on,{forward}", "-device", "virtio-net-pci,netdev=net,romfile="),
        *("-chardev", f"file,id=console,path={CONSOLE},append=on", "-serial", "chardev:console"),
        *("-qmp", f"unix:{SOCKET},server=on,wait=off"),
    ]
    for label in options.disks:
        command += ("-drive", f"if=none,id={label},file={label}.qcow2,format=qcow2,discard=unmap")
        command += ("-device", f"virtio-blk-pci,drive={label},serial={label}")
    command += ("-drive", f"if=none,id=boot,file={options.base}/{BOOT_DISK},format=raw,readonly=on")
    command += ("-device", "virtio-blk-pci,drive=boot,bootindex=0")
    return [*command, *(("-loadvm", options.snapshot) if options.snapshot else ())]


def require_memory(megabytes: int, meminfo_text: str) -> None:
    """Raise BadInput unless the memory is within bounds and free here, by the text of /proc/meminfo."""
    if not LEAST_MEMORY <= megabytes <= MOST_MEMORY:
        raise BadInput(f"A machine has {LEAST_MEMORY} to {MOST_MEMORY} MB of memory, not {megabytes}.")
    fields = dict(line.split(":", 1) for line in meminfo_text.splitlines() if ":" in line)
    free = int(fields.get("MemAvailable", "0 kB").split()[0]) >> 10
    if free < megabytes + _RESERVE:
        raise BadInput(
            f"A machine with {megabytes} MB does not fit: {free} MB are available here, of which {_RESERVE} stay free. "
            "Stop another machine, or choose less with --memory."
        )
