"""limits.conf: how many logins, and no core files. A limit of nothing would lock everybody out."""

import re

from app.files import Files, FileState
from app.syntax import limits, source
from app.syntax.limits import Limit
from app.targets.overlay import Overlay
from app.targets.subjects import rank
from app.targets.subjects.edit import Edit, Objection, is_live, not_understood, weakening

_GOOD = {"maxlogins": r"[1-9]|10", "maxsyslogins": r"[1-9][0-9]{1,3}", "core": r"0"}
_EVERYBODY = "*"


def judge(edit: Edit) -> Objection | None:
    for line in filter(is_live, edit.added):
        found = limits.limits(line, edit.path)
        if len(found) != 1 or found[0].item not in _GOOD:
            return not_understood(edit.path, line)
        if found[0].domain != _EVERYBODY or found[0].kind not in ("hard", "soft", "-"):
            return Objection("protected identity", f"{edit.path}: limits are set for everybody, not for an account.")
        if not re.fullmatch(_GOOD[found[0].item], found[0].value):
            return Objection("destruction", f"{edit.path}: {found[0].item} {found[0].value} may lock people out.")
    for line in filter(is_live, edit.removed):
        found = limits.limits(line, edit.path)
        if len(found) != 1 or found[0].item not in _GOOD:
            return not_understood(edit.path, line)
    return _lost(edit)


def _lost(edit: Edit) -> Objection | None:
    """What was limited stays limited: the last line of a kind counts, and `-` is hard and soft."""
    if edit.after is None or not edit.rewrites:
        return None
    changed = Overlay(edit.files, {edit.path: FileState(source.encode(edit.after), 0o644, "root:root")})
    old, new = _in_force(edit.files), _in_force(changed)
    for name, limit in old.items():
        if not re.fullmatch(_GOOD.get(limit.item, ""), limit.value):
            continue
        now = new.get(name)
        if now is None or rank.weaker(limit.item, limit.value, now.value):
            return weakening(edit.path, f"{limit.domain} {name[1]} {limit.item}")
    return None


def _in_force(files: Files) -> dict[tuple[str, str, str], Limit]:
    found = {}
    for limit in limits.effective(files):
        for kind in ("hard", "soft") if limit.kind == "-" else (limit.kind,):
            found[limit.domain, kind, limit.item] = limit
    return found
