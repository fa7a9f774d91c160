"""A disposable virtual machine: overlays on an image's disks, run by one QEMU, with an sshd on loopback."""

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.errors import BadInput, EnvironmentUnusable
from app.targets.rootfs.base_image_builder import run_command_or_raise
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import (
    SshAccess,
    can_reach_sshd_within,
    choose_port,
    format_known_hosts,
)
from app.targets.rootfs.pid_file_process import DetachedProcess
from app.targets.rootfs.requirements import list_missing_requirements
from app.targets.vm.accelerator import Accelerator, choose_accelerator, choose_emulation, list_missing_program_sentences
from app.targets.vm.guest_boot_and_clock import set_guest_clock, wait_for_systemd_state_after_boot
from app.targets.vm.machine_image_builder import (
    DISKS,
    DiskSpec,
    MachineImage,
    get_image_definition_of_kind,
    require_disk_space,
)
from app.targets.vm.qemu_command import CONSOLE, EMULATED_CPU, QemuOptions, build_qemu_command, require_memory
from app.targets.vm.qemu_monitor import open_monitor
from app.text.clean import clean_text, get_last_line

PRISTINE = "pristine"
"""The snapshot of the machine's first boot, to which a reset returns."""
BEFORE_REBOOT = "before-reboot"
"""The snapshot that a run takes before it reboots the machine; it counts as none of the user's."""
DEFAULT_MEMORY = 1024
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_RESERVED, _RECORD = ("bases", "trial"), "machine.json"
_MOST_SNAPSHOTS = 8
_BOOT_DEADLINE = 12
"""A boot may take so many times as long as on a machine with nothing else to do."""
_STOP_SECONDS = 120.0
Report = Callable[[str], None]


class MachineSnapshot(msgspec.Struct, frozen=True):
    taken_at: float
    accelerator: str


class MachineRecord(msgspec.Struct, kw_only=True):
    """What is kept of a machine between two commands."""

    kind: str
    base: str
    memory: int
    port: int = 0
    accelerator: str = ""
    emulated_cpu: str = "max"
    """Kept, as snapshots load with the same one only. A record without it is of a time when all machines had this."""
    boot_seconds: int = 0
    """How long the newest boot took; 0 if the machine never booted."""
    state: str = ""
    """systemd's state after the newest boot."""
    snapshots: dict[str, MachineSnapshot] = {}
    resume_from: str = ""
    """The snapshot that the next start begins with; none: it boots."""


def ignore_report(_text: str) -> None:
    pass


class VirtualMachine:
    def __init__(self, folder: Path, name: str, report: Report = ignore_report) -> None:
        """`folder` holds all machines and their images; `report` gets a sentence before each long step."""
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise BadInput(
                f"{name[:40]!a} is not a valid name for a machine: use a letter, then letters, digits and dashes."
            )
        self.name = name
        self._machines = folder.absolute()
        self.folder = self._machines / name
        self._process = DetachedProcess(self.folder / "pid")
        self._report = report

    @property
    def is_built(self) -> bool:
        return (self.folder / _RECORD).is_file()

    @property
    def is_up(self) -> bool:
        return self._process.is_alive

    @property
    def base_image_folder(self) -> Path:
        return self._machines / "bases" / self.read_record().base

    def read_record(self) -> MachineRecord:
        if not self.is_built:
            raise BadInput(f"There is no machine {self.name}: build it with temper machine build {self.name}.")
        return msgspec.json.decode((self.folder / _RECORD).read_bytes(), type=MachineRecord)

    def get_current_image_of_kind(self) -> MachineImage:
        return get_image_definition_of_kind(self.read_record().kind)

    def get_access(self, account: str = "temper") -> SshAccess:
        record = self.read_record()
        key = self._machines / "bases" / record.base / ("backup" if account == "root" else "temper")
        return SshAccess(record.port, account, key, self.folder / "known_hosts")

    def measure_disk_use(self) -> int:
        """Return the bytes that the machine's own files take, without the image that it shares."""
        return sum(file.lstat().st_blocks * 512 for file in self.folder.iterdir())

    def read_console(self, characters: int) -> str:
        """Return the end of what the machine wrote to its serial console, cleaned."""
        self.read_record()
        file = self.folder / CONSOLE
        return clean_text(file.read_text(errors="replace")[-characters:], characters) if file.is_file() else ""

    def build(self, kind: str = "debian12", memory: int = DEFAULT_MEMORY) -> None:
        """Build the machine; the first build of an image takes a minute or two."""
        if found := [*list_missing_program_sentences(), *list_missing_requirements(self._machines)]:
            raise EnvironmentUnusable("A virtual machine cannot be built here. " + " ".join(found))
        if self.is_built:
            raise BadInput(f"{self.name} already exists; reset it with `temper machine reset {self.name}`.")
        image = get_image_definition_of_kind(kind)
        require_memory(memory, Path("/proc/meminfo").read_text())
        require_disk_space(self._machines, image.megabytes)
        image.build(self._machines)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        record = MachineRecord(kind=kind, base=image.name, memory=memory, emulated_cpu=EMULATED_CPU)
        self._recreate_overlays(record)
        self._write_record(record)

    def start(self, *, is_tied: bool = False) -> SshAccess:
        """Start the machine and wait until it has booted. It runs until `stop`, or ends with its starter if tied.

        Raise EnvironmentUnusable with the console's last line if it does not come up.
        """
        record = self.read_record()
        if self.is_up:
            return self.get_access()
        if found := list_missing_program_sentences():
            raise EnvironmentUnusable("A virtual machine cannot be started here. " + " ".join(found))
        require_memory(record.memory, Path("/proc/meminfo").read_text())
        accelerator = self._choose_accelerator_for_snapshot(record, record.resume_from)
        self._assign_port_and_renew_disks_if_unloadable(record, accelerator)
        self._report(f"Starting {self.name} with {accelerator}; {_describe_start_time(record, accelerator)}.")
        began, console = time.monotonic(), self.folder / CONSOLE
        earlier = console.stat().st_size if console.is_file() else 0
        self._start_qemu(record, is_tied=is_tied)
        deadline = accelerator.boot_seconds * _BOOT_DEADLINE
        if not can_reach_sshd_within(record.port, deadline, lambda: self.is_up and not self._has_panicked(earlier)):
            raise self._stop_and_create_start_error()
        try:
            self._finish_start(record, began, deadline)
        except EnvironmentUnusable:
            self._process.kill_tree()
            raise
        return self.get_access()

    def stop(self, *, at_once: bool = False) -> None:
        """Shut the machine down; `at_once` pulls the plug instead. No process of it is left."""
        if self.is_up and not at_once:
            with open_monitor(self.folder) as monitor:
                monitor.execute("system_powerdown")
            self._wait_until_down_or_deadline()
        self._process.kill_tree()

    def reboot(self, *, at_once: bool = False) -> SshAccess:
        """Shut the machine down and boot it again; `at_once` pulls the plug instead of shutting it down."""
        self.read_record()
        self.stop(at_once=at_once)
        return self.start()

    def take_snapshot(self, label: str) -> None:
        """Keep the running machine's disks and memory under a label."""
        record = self.read_record()
        if not _NAME.fullmatch(label) or label == PRISTINE:
            raise BadInput(
                f"{label[:40]!a} cannot be a snapshot's name: use letters, digits and dashes, and not {PRISTINE}."
            )
        if not self.is_up:
            raise BadInput(f"{self.name} is not running: start it with temper machine start {self.name}.")
        if label != BEFORE_REBOOT and len({*record.snapshots, label} - {BEFORE_REBOOT}) > _MOST_SNAPSHOTS:
            raise BadInput(f"{self.name} has {_MOST_SNAPSHOTS} snapshots, the maximum: reuse one of their names.")
        self._save_snapshot(record, label)

    def reset(self, label: str = PRISTINE) -> None:
        """Return to a snapshot, without one to the disks as built; a machine that runs is running afterwards."""
        record = self.read_record()
        known = record.snapshots.get(label)
        if known is None and label != PRISTINE:
            raise BadInput(f"{self.name} has no snapshot {label[:40]!a}: list them with temper machine list.")
        if known and self.is_up and known.accelerator == record.accelerator:
            with open_monitor(self.folder) as monitor:
                monitor.run_snapshot_command("loadvm", label)
            set_guest_clock(self.get_access())
            return
        was_up = self.is_up
        if was_up:
            self._choose_accelerator_for_snapshot(record, label)  # raises before the machine is killed
        self._process.kill_tree()
        record.resume_from = label if known else ""
        if not known:
            self._recreate_overlays(record)
        self._write_record(record)
        if was_up:
            self.start()

    @property
    def has_emulated_processor(self) -> bool:
        return self.read_record().accelerator == "tcg"

    def discard(self) -> None:
        """Remove the machine; the image stays."""
        self._process.kill_tree()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _choose_accelerator_for_snapshot(self, record: MachineRecord, snapshot_label: str) -> Accelerator:
        """Return the accelerator that starts the machine from the snapshot: only the one that took it can load it.

        Raise EnvironmentUnusable if that one does not work here, unless a first boot replaces the snapshot.
        """
        best, known = choose_accelerator(), record.snapshots.get(snapshot_label)
        if known is None or known.accelerator == best.name or _is_replaced_by_boot(record, snapshot_label):
            return best
        if known.accelerator == "tcg":
            return choose_emulation(f"the snapshot {snapshot_label} was taken with it")
        raise EnvironmentUnusable(
            f"{self.name} cannot return to its snapshot now: {snapshot_label} was taken with KVM, "
            f"and a start uses {best}. "
            "Nothing is lost: try again where KVM works, or return to another snapshot of temper machine list. "
            f"To begin anew without any, use temper machine discard {self.name}, then build it again."
        )

    def _assign_port_and_renew_disks_if_unloadable(self, record: MachineRecord, accelerator: Accelerator) -> None:
        """Choose a port, and make the disks new for a first boot that replaces a snapshot of another accelerator."""
        record.port = choose_port(record.port)
        record.accelerator = accelerator.name
        known = record.snapshots.get(record.resume_from)
        if known and known.accelerator != accelerator.name:
            self._report(f"{record.resume_from} cannot be loaded with {accelerator}: {self.name} boots from new disks.")
            record.resume_from = ""
            self._recreate_overlays(record)
        self._write_record(record)
        keys = (self._machines / "bases" / record.base / "host-keys").read_text().splitlines()
        (self.folder / "known_hosts").write_text(format_known_hosts(record.port, keys))

    def _start_qemu(self, record: MachineRecord, *, is_tied: bool) -> None:
        options = QemuOptions(
            name=self.name,
            accelerator=record.accelerator,
            memory=record.memory,
            port=record.port,
            disks=[disk.label for disk in _list_disks()],
            base=f"../bases/{record.base}",
            emulated_cpu=record.emulated_cpu,
            snapshot=record.resume_from,
            is_tied=is_tied,
        )
        command = ["env", f"--chdir={self.folder}", *build_qemu_command(options)]
        self._process.start(command, Path("/dev/null"), self.folder / "qemu.log")

    def _finish_start(self, record: MachineRecord, began: float, patience_seconds: float) -> None:
        """Wait for the end of the boot, or set the clock after a snapshot; keep the first boot as a snapshot."""
        at = self.get_access()
        if record.resume_from:
            record.resume_from = ""
            set_guest_clock(at)
        else:
            record.state = wait_for_systemd_state_after_boot(at, patience_seconds)
            record.boot_seconds = round(time.monotonic() - began)
        if PRISTINE not in record.snapshots:
            self._save_snapshot(record, PRISTINE)
        self._write_record(record)

    def _has_panicked(self, console_bytes_before_start: int) -> bool:
        file = self.folder / CONSOLE
        return file.is_file() and b"Kernel panic" in file.read_bytes()[console_bytes_before_start:]

    def _stop_and_create_start_error(self) -> EnvironmentUnusable:
        log = (self.folder / "qemu.log").read_text(errors="replace")
        said = get_last_line(self.read_console(400) if self.is_up else log, 200)
        self._process.kill_tree()
        return EnvironmentUnusable(
            f"{self.name} does not start: {said or 'it printed nothing'}. See temper machine console {self.name}."
        )

    def _save_snapshot(self, record: MachineRecord, label: str) -> None:
        with open_monitor(self.folder) as monitor:
            monitor.run_snapshot_command("savevm", label)
        record.snapshots[label] = MachineSnapshot(time.time(), record.accelerator)
        self._write_record(record)

    def _recreate_overlays(self, record: MachineRecord) -> None:
        """Make the disks new, without snapshots: each an overlay on its disk of the image."""
        for disk in _list_disks():
            overlay = self.folder / f"{disk.label}.qcow2"
            overlay.unlink(missing_ok=True)
            backing = f"../bases/{record.base}/{disk.file_name}"
            run_command_or_raise(
                self.name, ["qemu-img", "create", "-q", "-f", "qcow2", "-b", backing, "-F", "raw", str(overlay)]
            )
        record.snapshots = {}

    def _write_record(self, record: MachineRecord) -> None:
        part = self.folder / f"{_RECORD}.part"
        part.write_bytes(msgspec.json.encode(record))
        part.replace(self.folder / _RECORD)

    def _wait_until_down_or_deadline(self) -> None:
        deadline = time.monotonic() + _STOP_SECONDS
        while self.is_up and time.monotonic() < deadline:
            time.sleep(0.1)


def list_machines(folder: Path) -> list[VirtualMachine]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [VirtualMachine(folder, one.name) for one in found if (one / _RECORD).is_file()]


def _is_replaced_by_boot(record: MachineRecord, label: str) -> bool:
    """Return True if a boot from new disks replaces the snapshot and loses no snapshot of the user's."""
    return label == PRISTINE and not record.snapshots.keys() - {PRISTINE, BEFORE_REBOOT}


def _list_disks() -> list[DiskSpec]:
    """Return the disks in the order in which the machine sees them, the root first."""
    return sorted(DISKS, key=lambda disk: disk.folder)


def _describe_start_time(record: MachineRecord, accelerator: Accelerator) -> str:
    if record.resume_from:
        return f"it goes on from the snapshot {record.resume_from} within seconds"
    return f"booting takes about {record.boot_seconds or accelerator.boot_seconds} s"
