"""Mounts: options are only added, and not to mounts that the system needs."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from app.resources.kind import ForeseenStates, Objection, ResourceAction, ResourceKind, RuleTexts, ShellCommands

MountOption = Literal["nodev", "nosuid", "noexec"]
_OPTIONS: tuple[MountOption, ...] = ("nodev", "nosuid", "noexec")
_OF_ID = re.compile(r"mount_option_(.+)_(nodev|nosuid|noexec)")
_MOUNT = re.compile(r"(?<![\w.])(/(?:boot|dev/shm|home|srv|tmp|var|opt|media)(?:/[a-z]{1,20}){0,2})(?![\w/])")
_NONE_AT_ALL = ("/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys", "/run", "/boot/efi")
_RUN_PROGRAMS = ("/var", "/var/lib", "/opt", "/srv", "/boot")
"""Programs or package scripts run from here, so noexec is refused."""


class AddMountOptions(ResourceAction, frozen=True, tag="add_mount_options"):
    """Add options in /etc/fstab and to the mounted file system."""

    mount: Annotated[str, Meta(max_length=128, pattern="^/[A-Za-z0-9_./-]*$")]
    options: Annotated[tuple[MountOption, ...], Meta(min_length=1, max_length=3)]


def find_candidates(rule: RuleTexts) -> Iterator[AddMountOptions]:
    """Find the mounts, with the rule's own option if it is about one."""
    match = _OF_ID.fullmatch(rule.id)
    found = (option for option in _OPTIONS if re.search(rf"\b{option}\b", rule.text))
    if options := tuple(option for option in found if not match or option == match[2]):
        for place in [f"/{match[1].replace('_', '/')}"] if match else _MOUNT.findall(rule.text):
            yield AddMountOptions(mount=place, options=options)


def judge_mounts(foreseen: ForeseenStates) -> Objection | None:
    for place, one in foreseen.iterate_names_and_states("mount"):
        if place in _NONE_AT_ALL:
            return Objection("destruction", f"{place}: the system needs its mount options as they are.")
        adds_noexec = one.after.count("noexec") > one.before.count("noexec")  # as mounted, and as fstab has it
        if adds_noexec and place in _RUN_PROGRAMS:
            return Objection("destruction", f"{place}: programs and package scripts run from there.")
    return None


def _build_commands(action: AddMountOptions, _: Sequence[str]) -> tuple[ShellCommands, ...]:
    at = shlex.quote(action.mount)
    return (
        _build_fstab_edit_commands(at, action.options),
        *(_build_remount_commands(at, one) for one in action.options),
    )


def _build_fstab_edit_commands(at: str, options: Sequence[MountOption]) -> ShellCommands:
    look = (
        f'said=",$(findmnt -s -n -o OPTIONS --mountpoint {at}),"; '
        f"for one in {' '.join(options)}; do case $said in *,$one,*) ;; *) exit 1 ;; esac; done"
    )
    more = ",".join(options)
    do = (
        f"if findmnt -s --mountpoint {at} >/dev/null; then "
        f"""awk -v at={at} -v more={more} '!/^[ \\t]*#/ && $2 == at {{ n = split(more, w, ","); """
        """for (i = 1; i <= n; i++) if (("," $4 ",") !~ ("," w[i] ",")) $4 = $4 "," w[i] } { print }' /etc/fstab """
        ">/etc/fstab.temper-new && cat /etc/fstab.temper-new >/etc/fstab && rm -f /etc/fstab.temper-new; "
        f'elif [ "$(findmnt -n -o FSTYPE --mountpoint {at})" = tmpfs ]; then '
        f"echo tmpfs {at} tmpfs defaults,nodev,nosuid,{more} 0 0 >>/etc/fstab; "
        f"else echo {at} has no line in /etc/fstab; exit 1; fi"
    )
    return ShellCommands(look, do, ":", ("/etc/fstab",))


def _build_remount_commands(at: str, option: MountOption) -> ShellCommands:
    """Each remount names all live options: fstab may lack some, and the kernel would drop these."""
    live = f"live=$(findmnt -n -o VFS-OPTIONS --mountpoint {at} | tail -n 1)"
    remount = f"{live}; mount --options-mode ignore -o remount,$live,%s {at}"
    look = f"{live}; case ,$live, in *,{option},*) ;; *) exit 1 ;; esac"
    return ShellCommands(look, remount % option, remount % option.removeprefix("no"))


KIND = ResourceKind(
    name="mount",
    actions=(AddMountOptions,),
    find_candidates=find_candidates,
    is_possible=lambda _action, _host: True,
    list_words=lambda action: (",".join(action.options),),
    judge_states=judge_mounts,
    build_commands=_build_commands,
)
