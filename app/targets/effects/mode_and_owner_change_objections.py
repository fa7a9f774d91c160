"""Modes and owners of files: whatever way a change comes, it may let nobody in, and keep out nobody who has to read."""

from collections.abc import Collection

from app.resources.kind import Objection
from app.syntax.host_files_protocol import Files, FileState
from app.targets.effects.too_strict_values import is_group_reader_required
from app.targets.writable_areas import find_judge_or_objection

_NEW_FILE = 0o644
_SPECIAL, _OTHERS_WRITE, _EXECUTE = 0o7000, 0o002, 0o111
_ROOT = "root"
_READ_BY_ROOT = (
    *("/etc/ssh/sshd_config", "/etc/sudoers", "/etc/shadow", "/etc/gshadow", "/etc/passwd-", "/etc/group-"),
    *("/etc/audit/", "/etc/modprobe.d/", "/etc/sysctl", "/etc/mission/", "/etc/sssd/", "/etc/usbguard/"),
)
"""Only root reads these. Other files are read by shells, PAM clients and network programs of any account.

The health probes check the files of the mission's program.
"""


def find_too_open_or_narrow_access_objection(
    paths: Collection[str], before: Files, after: Files, permitted_weakenings: frozenset[str]
) -> Objection | None:
    """Return the objection to the mode or the owner that a change gives a file; None if there is none."""
    for path in sorted(paths):
        was, now = before.state(path), after.state(path)
        if now is None or (was and (was.mode, was.owner) == (now.mode, now.owner)):
            continue
        stated = f"mode {path} {now.mode:04o}" in permitted_weakenings
        mode = (
            None if stated else find_objection_to_too_open_or_too_narrow_mode(path, was.mode if was else None, now.mode)
        )
        if found := mode or _judge_owner(path, was, now):
            return found
    return None


def find_objection_to_too_open_or_too_narrow_mode(path: str, old_mode: int | None, new_mode: int) -> Objection | None:
    """Return the objection to a mode that is wider than before or too narrow. `old_mode` is None for a new file."""
    if new_mode == old_mode:
        return None
    known = not isinstance(find_judge_or_objection(path), Objection)
    if new_mode & _SPECIAL & ~(old_mode or 0):
        return Objection("privilege", f"{path}: mode {new_mode:04o} would be setuid, setgid or sticky.")
    if new_mode & _OTHERS_WRITE & ~(old_mode or 0):
        return Objection("privilege", f"{path}: mode {new_mode:04o} would let everybody write to it.")
    if old_mode is None and not known:
        return None  # a script's own file, which a person is warned of; a package's has the mode of its maker
    tight = _NEW_FILE if old_mode is None else old_mode
    if new_mode & ~tight & _EXECUTE:
        return Objection("privilege", f"{path}: mode {new_mode:04o} would make a configuration file executable.")
    if new_mode & ~tight:
        return Objection("privilege", f"{path}: mode {new_mode:04o} is too open; use {tight:04o} or less.")
    if known and not path.startswith(_READ_BY_ROOT) and not new_mode & 0o004:
        return Objection("destruction", f"{path}: accounts other than root must be able to read it.")
    return None


def _judge_owner(path: str, was: FileState | None, now: FileState) -> Objection | None:
    """Return the objection to another owner than root, or to a group that would get more than everybody has."""
    if was is not None and was.owner == now.owner:
        return None
    if was is None and isinstance(find_judge_or_objection(path), Objection):
        return None
    (user, _, group), (old_user, _, old_group) = (one.partition(":") for one in (now.owner, was.owner if was else ""))
    if user not in (_ROOT, old_user):
        return Objection("privilege", f"{path}: {user} would own it, and could write to it.")
    more = (now.mode >> 3) & ~now.mode & 0o7
    if group not in (_ROOT, old_group) and more and not is_group_reader_required(path, now.owner):
        return Objection("privilege", f"{path}: the group {group} would get mode {now.mode:04o}.")
    return None
