"""Probes the next boot: its target, masked units, mounts and SELinux policy."""

from typing import Protocol, runtime_checkable

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import find_last
from app.targets.questions.probe_answer import ProbeAnswer, ProbedHost

FSTAB, SELINUX = "/etc/fstab", "/etc/selinux/config"
_UNITS = "/etc/systemd/system"
_DEFAULT = f"{_UNITS}/default.target"
NO_WORK = ("rescue", "emergency", "poweroff", "halt", "reboot", "kexec", "exit", "shutdown")
"""Targets without network logins."""
_USUAL = ("multi-user", "graphical")
"""Both let everybody log in over the network and at a console; the second starts a desktop as well."""
NEEDED = (
    *("sshd.service", "ssh.service", "ssh.socket", "systemd-logind.service", "systemd-user-sessions.service"),
    *("dbus.service", "dbus.socket", "dbus-broker.service", "NetworkManager.service", "systemd-networkd.service"),
    *("networking.service", "network.target", "network-online.target", "getty@.service", "getty.target"),
    *("multi-user.target", "basic.target", "sysinit.target", "local-fs.target"),
)
_FIELDS = (2, 6)
_ALWAYS_MOUNTED = ("/dev/shm", "tmpfs")  # noqa: S108 (a line in a host's file)
"""systemd mounts it at every boot; a line about it changes its options alone."""


@runtime_checkable
class LinkedFiles(Files, Protocol):
    def link(self, path: str) -> str | None: ...


def probe_next_boot(host: ProbedHost) -> ProbeAnswer:
    files = host.files
    goal = files.link(_DEFAULT) if isinstance(files, LinkedFiles) else None
    target = (goal or "").rpartition("/")[2].removesuffix(".target")
    if is_masked(files, _DEFAULT):
        return ProbeAnswer(False, f"the next boot goes to nothing at all: {_DEFAULT} is masked")
    if target in NO_WORK:
        return ProbeAnswer(False, f"the next boot goes to {target}: {_DEFAULT} says so")
    shut = [unit for unit in NEEDED if is_masked(files, f"{_UNITS}/{unit}")]
    if shut:
        return ProbeAnswer(False, f"the next boot leaves out {', '.join(shut)}, masked in {_UNITS}")
    mounts, fault = _describe_fstab_mounts_and_first_fault(files)
    if fault:
        return ProbeAnswer(False, fault, mounts)
    goes = f"the next boot goes to {target or 'the default target of its distribution'}"
    said = f"{len(mounts)} lines of {FSTAB} can be read" if mounts else f"{FSTAB} mounts nothing"
    boots = (f"boots into {target}.target",) if target and target not in _USUAL else ()
    return ProbeAnswer(True, f"{goes}, nothing that a login needs is masked, and {said}", (*mounts, *boots))


def is_masked(files: Files, path: str) -> bool:
    """Return True if the unit is a link to /dev/null or an empty file."""
    if isinstance(files, LinkedFiles) and (goal := files.link(path)) is not None:
        return goal == "/dev/null"
    return files.state(path) is not None and files.read(path) == b""


def _describe_fstab_mounts_and_first_fault(files: Files) -> tuple[tuple[str, ...], str]:
    """Return the mounts, and an error for the first line that systemd rejects."""
    mounts: list[str] = []
    for number, line in host_text.number_lines(host_text.read_text(files, FSTAB) or ""):
        words = host_text.split_words(line)
        if not words or words[0].startswith("#"):
            continue
        if not _FIELDS[0] < len(words) <= _FIELDS[1]:
            return tuple(mounts), f"{FSTAB} line {number} has {len(words)} fields, and systemd wants three to six"
        if (words[1], words[2]) != _ALWAYS_MOUNTED:
            mounts.append(f"mounts {words[0]} on {words[1]} as {words[2]}")
    return tuple(mounts), ""


def probe_selinux_policy_presence_at_boot(host: ProbedHost) -> ProbeAnswer:
    """Probe the SELinux policy: a missing one halts the boot in enforcing mode."""
    if host.files.state(SELINUX) is None:
        return ProbeAnswer(True, f"there is no {SELINUX}, so no policy is loaded at boot")
    settings = key_value_config_parsers.read_setting_files(
        host.files, [SELINUX], key_value_config_parsers.parse_options
    )
    mode, policy = (find_last(settings, key) for key in ("SELINUX", "SELINUXTYPE"))
    named = policy.value if policy else "targeted"
    loads = f"the next boot loads the SELinux policy {named}"
    if mode and mode.value == "disabled":
        return ProbeAnswer(True, "SELinux is disabled at boot, so no policy is loaded")
    if host.files.state(f"/etc/selinux/{named}") is None or "/" in named:
        return ProbeAnswer(False, f"{loads}, and /etc/selinux/{named} is not there")
    return ProbeAnswer(True, f"{loads}, which is there")
