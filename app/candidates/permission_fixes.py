"""Permissions that the scanner found too open, brought to what the rule's title asks for."""

import re
from collections.abc import Iterator

from app.candidates.scratch_files_to_actions import Undecidable
from app.resources.permission import SetPermissions

_SHOWN = re.compile(r"(?P<path>/[^\s;:,]+) has mode (?P<mode>[0-7]{4}), owner (?P<uid>\d+):(?P<gid>\d+)")
"""As the evidence of a verdict has it."""
_CUT = re.compile(r"; and \d+ more|…")
"""A list that the evidence does not show whole."""
_MODE = re.compile(r"\bmode (?:of )?[\"'`]?0?(?P<mode>[0-7]{3})[\"'`]? or less permissive")
_USER, _GROUP = re.compile(r"(?<!group-)\bowned by root\b"), re.compile(r"\bgroup-owned by root\b")


def require_permission_actions(title: str, evidence: str) -> tuple[SetPermissions, ...]:
    """Return what brings each path of the evidence to what the title asks. Raises Undecidable if it asks nothing."""
    actions = tuple(_derive_permission_actions(title, evidence))
    if actions and _CUT.search(evidence):
        raise Undecidable("The scanner found more paths than its evidence shows.")
    if not actions:
        raise Undecidable("The scanner shows no path with a mode or an owner that the title forbids.")
    return actions


def _derive_permission_actions(title: str, evidence: str) -> Iterator[SetPermissions]:
    asked = _MODE.search(title)
    for shown in _SHOWN.finditer(evidence):
        now = int(shown["mode"], 8)
        mode = now & (int(asked["mode"], 8) | 0o7000) if asked else now
        user = "root" if _USER.search(title) and shown["uid"] != "0" else ""
        group = ":root" if _GROUP.search(title) and shown["gid"] != "0" else ""
        if mode != now or user or group:
            yield SetPermissions(path=shown["path"], mode=f"{mode:04o}" if mode != now else "", owner=user + group)
