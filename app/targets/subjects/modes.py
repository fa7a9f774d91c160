"""The policy for modes: stricter only, never wider and never executable."""

from app.targets.subjects.file_edit import FileEdit, Objection

_NEW_FILE = 0o644
_SPECIAL, _OTHERS_WRITE, _EXECUTE = 0o7000, 0o002, 0o111
_READ_BY_ROOT = (
    "/etc/ssh/sshd_config",
    "/etc/sudoers",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/passwd-",
    "/etc/group-",
    "/etc/audit/",
    "/etc/modprobe.d/",
    "/etc/sysctl",
    "/etc/mission/",
    "/etc/sssd/",
    "/etc/usbguard/",
)
"""Only root reads these. Other files are read by shells, PAM clients and network programs of any account.

The health probes check the files of the mission's program.
"""


def judge_mode_edit(edit: FileEdit) -> Objection | None:
    mode, before = edit.mode_after, edit.mode_before
    if mode is None or mode == before:
        return None
    if mode & _SPECIAL:
        return Objection("privilege", f"{edit.path}: mode {mode:04o} would be setuid, setgid or sticky.")
    if mode & _OTHERS_WRITE:
        return Objection("privilege", f"{edit.path}: mode {mode:04o} would let everybody write.")
    wider = mode & ~(_NEW_FILE if before is None else before)
    if wider & _EXECUTE:
        return Objection("privilege", f"{edit.path}: mode {mode:04o} would make a configuration file executable.")
    if wider:
        tight = _NEW_FILE if before is None else before
        return Objection("privilege", f"{edit.path}: mode {mode:04o} opens it; give {tight:04o} or less.")
    if not edit.path.startswith(_READ_BY_ROOT) and not mode & 0o004:
        return Objection("destruction", f"{edit.path}: others than root have to read it.")
    return None
