"""A file's mode may become tighter. It opens to nobody new and runs nothing new."""

from app.targets.subjects.edit import Edit, Objection

_NEW_FILE = 0o644
_SPECIAL, _OTHERS_WRITE, _EXECUTE = 0o7000, 0o002, 0o111
_READ_BY_ALL = (
    "/etc/login.defs",
    "/etc/profile",
    "/etc/bashrc",
    "/etc/profile.d/",
    "/etc/pam.d/",
    "/etc/crypto-policies/",
)


def judge(edit: Edit) -> Objection | None:
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
    if edit.path.startswith(_READ_BY_ALL) and not mode & 0o004:
        return Objection("destruction", f"{edit.path}: everybody who logs in has to read it.")
    return None
