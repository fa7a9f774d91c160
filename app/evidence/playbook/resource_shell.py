"""Shell commands for a run's changes to packages, units, mounts and accounts: test, apply and undo."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from app.events import vocabulary
from app.events.vocabulary import FileChange, ResourceAction
from app.evidence.playbook.edits import NotRecorded
from app.targets.resources.dry_run import PACKAGE

_INSTALLED = (
    "{ dpkg-query -W -f '${db:Status-Status}' %s 2>/dev/null | grep -qx installed || rpm -q %s >/dev/null 2>&1; }"
)
_BY = "if command -v apt-get >/dev/null; then DEBIAN_FRONTEND=noninteractive apt-get -y -q %s; else dnf -y -q %s; fi"
_KEYS = {"min": ("-m", 4), "max": ("-M", 5), "warn": ("-W", 6), "inactive": ("-I", 7)}
_UNDONE = {
    "enable": "disable",
    "disable": "enable",
    "mask": "unmask",
    "unmask": "mask",
    "start": "stop",
    "stop": "start",
}


@dataclass(frozen=True)
class ShellCommands:
    """Commands for sh. `look` exits 0 if the change is already made."""

    look: str
    do: str
    undo: str
    paths: tuple[str, ...] = ()
    """Files that it writes, to be backed up and restored."""


def build_shell_commands(action: ResourceAction, changes: Sequence[FileChange]) -> ShellCommands:
    match action:
        case vocabulary.InstallPackage(package=name):
            came = [change.path.removeprefix(PACKAGE) for change in changes if change.path.startswith(PACKAGE)]
            gone = shlex.join(came or [name])
            install, take = f"install {shlex.quote(name)}", f"remove {gone}"
            return ShellCommands(
                _test_installed(name),
                _run_package_manager(install),
                _run_package_manager(take.replace("remove", "purge", 1), take),
            )
        case vocabulary.RemovePackage(package=name):
            return ShellCommands(
                f"! {_test_installed(name)}",
                _run_package_manager(f"remove {shlex.quote(name)}"),
                _run_package_manager(f"install {shlex.quote(name)}"),
            )
        case vocabulary.SetUnit(unit=unit, to=to):
            name = shlex.quote(unit)
            return ShellCommands(
                _test_unit_state(name, to), f"systemctl {to} {name}", f"systemctl {_UNDONE[to]} {name}"
            )
        case vocabulary.AddMountOptions():
            return _build_mount_commands(action)
        case vocabulary.SetAgeing(account=account, setting=setting, days=days):
            key, field = _KEYS[setting]
            look = f'[ "$(getent shadow {shlex.quote(account)} | cut -d: -f{field})" = {days} ]'
            return ShellCommands(look, f"chage {key} {days} {shlex.quote(account)}", ":", ("/etc/shadow",))
        case vocabulary.RunVendorScript(sha256=sha256):
            raise NotRecorded(
                f"by the vendor's script (sha256 {sha256}), which a person approved for that host alone: "
                "on another it is to be seen on a copy and approved anew"
            )
    raise NotRecorded("the record has a change beside files that is not known here")


def _test_installed(name: str) -> str:
    return _INSTALLED % ((shlex.quote(name),) * 2)


def _run_package_manager(apt: str, dnf: str = "") -> str:
    return _BY % (apt, dnf or apt)


def _test_unit_state(name: str, to: str) -> str:
    match to:
        case "start":
            return f"systemctl is-active -q {name}"
        case "stop":
            return f"! systemctl is-active -q {name}"
        case "unmask":
            return f'[ "$(systemctl is-enabled {name} 2>/dev/null)" != masked ]'
        case _:
            wanted = {"enable": "enabled", "disable": "disabled", "mask": "masked"}[to]
            return f'[ "$(systemctl is-enabled {name} 2>/dev/null)" = {wanted} ]'


def _build_mount_commands(action: vocabulary.AddMountOptions) -> ShellCommands:
    at, options = shlex.quote(action.mount), ",".join(action.options)
    each = " ".join(action.options)
    look = (
        f'now=",$(findmnt -n -o OPTIONS --mountpoint {at} | tail -n 1),"; '
        f'said=",$(findmnt -s -n -o OPTIONS --mountpoint {at}),"; '
        f"for one in {each}; do case $now in *,$one,*) ;; *) exit 1 ;; esac; "
        "case $said in *,$one,*) ;; *) exit 1 ;; esac; done"
    )
    do = (
        f"if findmnt -s --mountpoint {at} >/dev/null; then "
        f"""awk -v at={at} -v more={options} '!/^[ \\t]*#/ && $2 == at {{ n = split(more, w, ","); """
        """for (i = 1; i <= n; i++) if (("," $4 ",") !~ ("," w[i] ",")) $4 = $4 "," w[i] } { print }' /etc/fstab """
        ">/etc/fstab.temper-new && cat /etc/fstab.temper-new >/etc/fstab && rm -f /etc/fstab.temper-new; "
        f"else echo {at} has no line in /etc/fstab; exit 1; fi && mount -o remount,{options} {at}"
    )
    loose = ",".join(one.removeprefix("no") for one in action.options)
    undo = f"said=$(findmnt -s -n -o OPTIONS --mountpoint {at}); mount -o remount,{loose},${{said:-rw}} {at}"
    return ShellCommands(look, do, undo, ("/etc/fstab",))
