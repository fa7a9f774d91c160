"""The policy for passwd, shadow and group: modes may become stricter, lines must stay."""

import re

from app.targets.host_accounts import AGENT
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection

_NEEDED = ("/etc/passwd", "/etc/group")
_ROOT_LIKE = re.compile(r"[^:]*:[^:]*:0+:")


def judge_account_edit(edit: FileEdit) -> Objection | None:
    if edit.mode_after is not None and edit.path in _NEEDED and not edit.mode_after & 0o004:
        return Objection("destruction", f"{edit.path}: everybody must be able to read it.")
    if not edit.has_line_changes:
        return None
    lines = [*edit.added, *edit.removed]
    if any(re.search(rf"(?<![\w-]){AGENT}(?![\w-])", line) for line in lines):
        return Objection("protected identity", f"{edit.path}: Temper may not change the account {AGENT}.")
    if any(_ROOT_LIKE.match(line) for line in edit.added if edit.path.startswith("/etc/passwd")):
        return Objection("privilege", f"{edit.path}: only root may have uid 0.")
    if any(line.startswith("wheel:") for line in lines):
        return Objection("privilege", f"{edit.path}: Temper may not change the host's administrators.")
    return Objection("protected identity", f"{edit.path}: Temper may change modes here, but not accounts.")
