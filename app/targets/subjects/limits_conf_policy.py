"""The policy for limits.conf: number of logins and core files. A limit of 0 logins would lock everybody out."""

import re

from app.syntax import limits_conf
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line

_GOOD = {"maxlogins": r"[1-9]|10", "maxsyslogins": r"[1-9][0-9]{1,3}", "core": r"0"}
_EVERYBODY = "*"


def judge_limits_edit(edit: FileEdit) -> Objection | None:
    for line in filter(is_content_line, edit.added):
        found = limits_conf.parse_limits(line, edit.path)
        if len(found) != 1 or found[0].item not in _GOOD:
            return edit.create_unknown_objection(line)
        if found[0].domain != _EVERYBODY or found[0].kind not in ("hard", "soft", "-"):
            return Objection("protected identity", f"{edit.path}: limits must apply to everybody, not to one account.")
        if not re.fullmatch(_GOOD[found[0].item], found[0].value):
            return Objection("destruction", f"{edit.path}: {found[0].item} {found[0].value} may lock people out.")
    for line in filter(is_content_line, edit.removed):
        found = limits_conf.parse_limits(line, edit.path)
        if len(found) != 1 or found[0].item not in _GOOD:
            return edit.create_unknown_objection(line)
    return None
