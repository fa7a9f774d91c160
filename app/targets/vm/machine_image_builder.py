"""The disks of a virtual machine: a system that boots, with separate file systems, built once per package list."""

import hashlib
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput, EnvironmentUnusable
from app.targets.rootfs.base_image_builder import build_and_unpack_new_base, create_login_keys, run_command_or_raise
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.requirements import build_namespace_command, create_namespace_owned_folder

_HERE = Path(__file__).parent
_SECONDS = 600
_INITRAMFS = f"--setup-hook={(_HERE / 'initramfs.sh').read_text().rstrip()}"
"""The initial RAM disk holds what this machine's disks need and no more: it is read by the BIOS, slowly."""
_GRUB = '--essential-hook=echo grub-pc grub-pc/install_devices_empty boolean true | chroot "$1" debconf-set-selections'
"""There is no disk to install GRUB on while the image is built; configure.sh makes its boot sector."""
_OFFERS = ("aide", "libpam-apparmor", "rsyslog-gnutls")
"""What rules ask for and a run can install without a network."""
_COMMON = (
    *("linux-image-cloud-amd64", "systemd-sysv", "libpam-systemd", "dbus", "udev", "kmod", "procps", "iproute2"),
    *("openssh-server", "sudo", "auditd", "rsyslog", "logrotate", "cron", "chrony", "grub-pc", "libpam-pwquality"),
    *("cracklib-runtime", "openscap-scanner", "zstd"),
)
_EL9 = (
    *("rpm", "dnf", "dnf-plugins-core", "createrepo-c", "gnupg", "selinux-basics", "selinux-policy-default"),
    *("policycoreutils-python-utils", "firewalld", "fapolicyd", "usbguard", "aide", "tmux", "opensc", "pcscd"),
    *("gnutls-bin", "libnss3-tools", "rng-tools5", "s-nail", "rsyslog-gnutls", "audispd-plugins", "systemd-coredump"),
    *("wamerican", "netbase"),
)
_CONTENT = "/usr/share/xml/scap/ssg/content"
_ONE_STREAM = tuple(
    f"--dpkgopt=path-{what}" for what in (f"exclude={_CONTENT}/*", f"include={_CONTENT}/ssg-rhel9-ds.xml")
)
"""The package has content for forty systems, half a gigabyte."""


@dataclass(frozen=True)
class DiskSpec:
    label: str
    folder: str
    megabytes: int

    @property
    def file_name(self) -> str:
        return f"{self.label}.img"


DISKS = (
    DiskSpec("audit", "/var/log/audit", 128),
    DiskSpec("log", "/var/log", 256),
    DiskSpec("vartmp", "/var/tmp", 256),  # noqa: S108  (a folder of the machine)
    DiskSpec("var", "/var", 1024),
    DiskSpec("home", "/home", 128),
    DiskSpec("tmp", "/tmp", 256),  # noqa: S108
    DiskSpec("root", "/", 3072),
)
"""A file system each, those within another one first. Their files are sparse."""
BOOT_DISK = "boot.img"


@dataclass(frozen=True)
class MachineImage:
    """What a virtual machine is made from. Its name changes with everything that it is made from."""

    kind: str
    title: str
    """What people read about a host of this kind."""
    base: BaseImage
    content: str
    """The data stream that comes with it."""
    profile: str
    """That data stream's profile for a whole benchmark."""
    scripts: tuple[str, ...] = ()
    """What makes it this kind: run inside it, one after the other."""
    disks: tuple[DiskSpec, ...] = DISKS

    @property
    def name(self) -> str:
        scripts = [(_HERE / name).read_text() for name in ("configure.sh", "pack.sh", *self.scripts)]
        scripts += (_read_accounts_script(), _format_disks(self.disks))
        return f"{self.base.name}-{hashlib.sha256(chr(0).join(scripts).encode()).hexdigest()[:8]}"

    @property
    def megabytes(self) -> int:
        return sum(disk.megabytes for disk in self.disks)

    def build(self, machines_folder: Path) -> Path:
        """Build the disks unless they are there, and return their folder; an unfinished one is never left there."""
        folder = machines_folder / "bases" / self.name
        if folder.is_dir():
            return folder
        part = f"bases/{self.name}.new"
        _remove_image_part_folder(machines_folder, part)
        try:
            create_namespace_owned_folder(machines_folder / "bases")
            create_namespace_owned_folder(machines_folder / part)
            create_login_keys(machines_folder / part, self.name)
            build_and_unpack_new_base(machines_folder, self.base, f"{part}/tree")
            words = (part, _format_disks(self.disks), str(uuid.uuid4()))
            inside = "".join((_HERE / name).read_text() for name in self.scripts)
            self._run_script(
                machines_folder, "configure.sh", *words, _read_accounts_script(), self.kind, self.content, inside
            )
            self._run_script(machines_folder, "pack.sh", *words)
            (machines_folder / part).rename(folder)
        except BaseException:
            _remove_image_part_folder(machines_folder, part)
            raise
        return folder

    def _run_script(self, machines_folder: Path, name: str, *words: str) -> None:
        with (_HERE / name).open("rb") as script:
            command = build_namespace_command(machines_folder, "sh", "-s", *words)
            run_command_or_raise(self.name, command, _SECONDS, script.fileno())


_DEBIAN12 = MachineImage(
    kind="debian12",
    title="A disposable Debian 12 in a virtual machine, with a kernel and systemd of its own. "
    "Its root login is watched.",
    base=BaseImage("bookworm", (*_COMMON, "apparmor", "ssg-debian"), offers=_OFFERS, hooks=(_INITRAMFS, _GRUB)),
    content="ssg-debian12-ds.xml",
    profile="anssi_bp28_enhanced",
)
_STAND_IN = MachineImage(
    kind="el9",
    title="A stand-in for RHEL 9 in a virtual machine (SIMULATED distribution, real kernel and daemons of Debian 12). "
    "Its root login is watched.",
    base=BaseImage("bookworm", (*_COMMON, *_EL9, "ssg-nondebian"), offers=(), hooks=(_INITRAMFS, _GRUB, *_ONE_STREAM)),
    content="ssg-rhel9-ds.xml",
    profile="stig",
    scripts=("el9/packages.sh", "el9/layout.sh", "el9/weaken.sh"),
)
_IMAGES = {one.kind: one for one in (_DEBIAN12, _STAND_IN)}


def get_image_definition_of_kind(kind: str) -> MachineImage:
    """Return the image of a kind of machine; raise BadInput for an unknown one."""
    if kind not in _IMAGES:
        raise BadInput(f"{kind[:40]!a} is not a kind of machine. The kinds are: {', '.join(_IMAGES)}.")
    return _IMAGES[kind]


def require_disk_space(machines_folder: Path, megabytes: int) -> None:
    """Raise EnvironmentUnusable unless the folder's disk has so much room."""
    machines_folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(machines_folder).free >> 20
    if free < megabytes:
        raise EnvironmentUnusable(
            f"A virtual machine needs up to {megabytes} MB in {machines_folder}, but only {free} MB are free. Free "
            "space, or choose another folder with --data."
        )


def _read_accounts_script() -> str:
    return (_HERE.parent / "rootfs" / "accounts.sh").read_text()


def _format_disks(disks: tuple[DiskSpec, ...]) -> str:
    return "\n".join(f"{disk.label} {disk.folder} {disk.megabytes}" for disk in disks)


def _remove_image_part_folder(machines_folder: Path, folder_name: str) -> None:
    if (machines_folder / folder_name).is_dir():
        run_command_or_raise(folder_name, build_namespace_command(machines_folder, "rm", "-rf", folder_name))
        shutil.rmtree(machines_folder / folder_name, ignore_errors=True)
