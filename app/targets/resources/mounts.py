"""The policy for mounts: options are only added, and not to mounts that the system needs."""

from app.targets.resources.dry_run import MOUNT, DryRun
from app.targets.subjects.file_edit import Objection

_NONE_AT_ALL = ("/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys", "/run", "/boot/efi")
_RUN_PROGRAMS = ("/var", "/var/lib", "/opt", "/srv", "/boot")
"""Programs or package scripts run from here, so noexec is refused."""


def judge_mounts(foreseen: DryRun) -> Objection | None:
    for one in foreseen.states:
        if not one.name.startswith(MOUNT):
            continue
        place = one.name.removeprefix(MOUNT)
        if place in _NONE_AT_ALL:
            return Objection("destruction", f"{place} is mounted as the system needs it.")
        if "noexec" in one.after and place in _RUN_PROGRAMS:
            return Objection("destruction", f"{place}: programs and packages' scripts are run from there.")
    return None
