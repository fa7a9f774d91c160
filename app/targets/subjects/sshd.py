"""sshd's configuration: line by line, and then by what sshd makes of the whole."""

import re

from app.files import FileState
from app.syntax import source, sshd
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.targets.overlay import Overlay
from app.targets.subjects.edit import Edit, Objection
from app.targets.subjects.tables import SSHD


def judge(edit: Edit) -> Objection | None:
    return SSHD(edit) or _by_effect(edit)


def _by_effect(edit: Edit) -> Objection | None:
    """A good line that is moved behind a Match block, or behind a bad one, no longer counts."""
    if edit.after is None or not edit.rewrites:
        return None
    changed = Overlay(edit.files, {edit.path: FileState(source.encode(edit.after), 0o600, "root:root")})
    old, new = _global(sshd.effective(edit.files).settings), _global(sshd.effective(changed).settings)
    for name, setting in old.items():
        if _is_good(setting) and name in new and not _is_good(new[name]):
            return Objection("weakening", f"{edit.path}: sshd would then go by {new[name].key} {new[name].value}.")
        if _is_good(setting) and name not in new:
            return Objection(
                "weakening", f"{edit.path}: sshd would then no longer go by {setting.key} {setting.value}."
            )
    return None


def _global(settings: tuple[Setting, ...]) -> dict[str, Setting]:
    """The first of a keyword wins."""
    return {fold(setting.key): setting for setting in reversed(settings)}


def _is_good(setting: Setting) -> bool:
    return any(re.fullmatch(key, fold(setting.key)) and re.fullmatch(value, setting.value) for key, value in SSHD.good)
