"""sshd's configuration: line by line, and then by what sshd makes of the whole."""

import re

from app.files import FileState
from app.syntax import source, sshd
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.syntax.sshd import SshdConfig
from app.targets.overlay import Overlay
from app.targets.subjects import rank
from app.targets.subjects.edit import Edit, Objection
from app.targets.subjects.tables import SSHD

_LISTS = ("ciphers", "macs", "kexalgorithms")
"""Without a list of the host's own, whatever sshd was built with is offered."""


def judge(edit: Edit) -> Objection | None:
    return SSHD(edit) or _by_effect(edit)


def _by_effect(edit: Edit) -> Objection | None:
    """A good line that is moved behind a Match block, or behind a bad one, no longer counts."""
    if edit.after is None or not edit.rewrites:
        return None
    changed = Overlay(edit.files, {edit.path: FileState(source.encode(edit.after), 0o600, "root:root")})
    before, after = sshd.effective(edit.files), sshd.effective(changed)
    return _lost(edit.path, _first(before.settings), _first(after.settings)) or _lost_in_blocks(edit, before, after)


def _lost_in_blocks(edit: Edit, before: SshdConfig, after: SshdConfig) -> Objection | None:
    """What a Match block made stricter for some: a global line only counts for them when it comes first."""
    fallen = _first(after.settings)
    for block in before.matches:
        same = [one for one in after.matches if one.criteria == block.criteria]
        now = fallen | (_first(same[0].settings) if same else {})
        found = _lost(edit.path, _first(block.settings), now)
        if found:
            return found
    return None


def _lost(path: str, old: dict[str, Setting], new: dict[str, Setting]) -> Objection | None:
    for name, setting in old.items():
        if _is_good(setting) and name in new and not _is_good(new[name]):
            return Objection("weakening", f"{path}: sshd would then go by {new[name].key} {new[name].value}.")
        if (_is_good(setting) or name in _LISTS) and name not in new:
            return Objection("weakening", f"{path}: sshd would then no longer go by {setting.key} {setting.value}.")
        if _is_good(setting) and rank.weaker(name, setting.value, new[name].value):
            return Objection("weakening", f"{path}: {setting.key} would go back to {new[name].value}.")
    return None


def _first(settings: tuple[Setting, ...]) -> dict[str, Setting]:
    """The first of a keyword wins."""
    return {fold(setting.key): setting for setting in reversed(settings)}


def _is_good(setting: Setting) -> bool:
    return any(re.fullmatch(key, fold(setting.key)) and re.fullmatch(value, setting.value) for key, value in SSHD.good)
