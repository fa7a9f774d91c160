"""The policy for modprobe.d: only modules that the STIG names may be blocked."""

import re

from app.syntax import modprobe
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line

_UNWANTED = re.compile(
    r"atm|bluetooth|can|cramfs|dccp|firewire_core|freevxfs|hfs|hfsplus|jffs2|rds|sctp|squashfs|tipc|udf|usb_storage"
    r"|uvcvideo"
)
_NOTHING = re.compile(r"(?:/usr)?/bin/(?:false|true)")


def judge_modules_edit(edit: FileEdit) -> Objection | None:
    for line in filter(is_content_line, edit.added):
        found = modprobe.parse_module_lines(line, edit.path)
        if len(found) != 1 or line.endswith("\\"):
            return edit.create_unknown_objection(line)
        command, module, rest = found[0].command, found[0].module, found[0].rest
        if command == "install" and not _NOTHING.fullmatch(rest):
            return Objection("privilege", f"{edit.path}: {line.strip()!r} would run a command as root.")
        if command not in ("install", "blacklist") or (command == "blacklist" and rest):
            return edit.create_unknown_objection(line)
        if not _UNWANTED.fullmatch(module):
            return Objection("destruction", f"{edit.path}: the host may need the module {module}.")
    kept = {_parse_command_and_blocked_module(line) for line in (edit.after or "").split("\n")}
    for line in filter(is_content_line, edit.removed):
        meant = _parse_command_and_blocked_module(line)
        if meant and meant not in kept:
            return edit.create_weakening_objection(line)
    return None


def _parse_command_and_blocked_module(line: str) -> tuple[str, str] | None:
    """Return the command and module that the line blocks; None if it runs a command, so that it may go."""
    found = modprobe.parse_module_lines(line, "")
    if not found or (found[0].command == "install" and not _NOTHING.fullmatch(found[0].rest)):
        return None
    return found[0].command, found[0].module
