"""Audit rules: they may grow and be locked, never shrink or be switched off.

A rule that records too much is no gift either: it fills the disk, and a full disk may halt the host.
"""

import re

from app.syntax import source
from app.targets.subjects.edit import Edit, Objection, is_live, keeps_order

_CALLS = (
    "chmod fchmod fchmodat chown fchown fchownat lchown setxattr fsetxattr lsetxattr removexattr fremovexattr"
    " lremovexattr rename renameat renameat2 unlink unlinkat rmdir mount umount umount2 init_module finit_module"
    " delete_module create_module adjtimex settimeofday clock_settime stime sethostname setdomainname"
).replace(" ", "|")
_WATCHED = (
    r"(?!.*(?:/\.|//))/(?:etc/[\w./-]+|(?:usr/)?s?bin/[\w.-]+|usr/lib(?:exec)?/[\w.-]+/[\w./-]+|boot/[\w./-]+|root/?"
    r"|var/log/(?!audit|messages|secure|journal)[\w.-]+/?|(?:var/)?run/(?:faillock|utmp)/?|var/spool/cron/?)"
)
"""Not a folder that programs write into all day."""
_NEW = re.compile(
    r"-e [12]|-f [12]|-b [1-9][0-9]{3,5}|--backlog_wait_time [0-9]{1,6}|--loginuid-immutable"
    rf"|-w {_WATCHED} -p (?:wa|w|a)(?: -k [\w-]+)?"
    r"|-a (?:always,exit|exit,always)(?=.* (?:-S |-F path=))"
    rf"(?: -F [\w!<>=&./-]+| -S (?:{_CALLS})(?:,(?:{_CALLS}))*| -C [\w!=]+)+(?: -k [\w-]+)?",
    re.ASCII,
)
_CONTROL = re.compile(r"(-[bef]|--[a-z_-]+)\b")
_STRICTEST = ("-e 2", "-f 2")
_LOCKED = "-e 2"
_FILES = ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules")


def judge(edit: Edit) -> Objection | None:
    added = [" ".join(line.split()) for line in edit.added if is_live(line)]
    for line in added:
        if not _NEW.fullmatch(line):
            return Objection("evidence tampering", f"{edit.path}: {line!r} does not add to what should be recorded.")
    replaced = {control for line in added if (control := _control(line))}
    for line in (" ".join(line.split()) for line in edit.removed if is_live(line)):
        loosened = line in _STRICTEST or _control(line) not in replaced
        if loosened and line not in added:
            return Objection("evidence tampering", f"{edit.path}: {line!r} may not be removed.")
    return _out_of_order(edit)


def _out_of_order(edit: Edit) -> Objection | None:
    """-D forgets what is above it, the first rule that fits decides, and nothing is taken behind the lock."""
    old, new = _rules(edit.before), _rules(edit.after or "")
    if not keeps_order(old, new):
        return Objection("evidence tampering", f"{edit.path}: the rules keep their order.")
    standing = [
        line for path in _FILES for at in edit.files.glob(path) for line in _rules(source.text(edit.files, at) or "")
    ]
    for line in new:
        if line not in old and _loosens(line, standing):
            return Objection("evidence tampering", f"{edit.path}: {line!r} would take back what stands already.")
    if _LOCKED in new and _LOCKED not in old and new[-1] != _LOCKED:
        return Objection("evidence tampering", f"{edit.path}: what stands behind {_LOCKED!r} would not be loaded.")
    return None


def _loosens(line: str, standing: list[str]) -> bool:
    """Wherever the stricter one stands: which file is loaded is not ours to say."""
    switch, _, value = line.partition(" ")
    known = [other.partition(" ")[2] for other in standing if other.partition(" ")[0] == switch]
    numbers = [int(one) for one in known if one.isdigit() and len(one) < 10]
    return switch in ("-b", "-e", "-f") and any(int(value) < number for number in numbers)


def _rules(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.split("\n") if is_live(line)]


def _control(line: str) -> str | None:
    match = _CONTROL.match(line)
    return match[1] if match else None
