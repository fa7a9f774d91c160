"""The policy for audit rules: they may record more, but not so much that a full disk or backlog stops the host.

auditctl stops at the first rule that the kernel rejects and loads none after it, so the grammar is strict.
The effect on existing rules and switches is compared in effects/.
"""

import re

from app.syntax import host_text
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line, keeps_order

_RARE = (
    "mount umount2 init_module finit_module delete_module adjtimex settimeofday clock_settime sethostname setdomainname"
)
_OFTEN = (
    "chmod fchmod fchmodat chown fchown fchownat lchown setxattr fsetxattr lsetxattr removexattr fremovexattr"
    " lremovexattr rename renameat renameat2 unlink unlinkat rmdir"
)
"""Frequent in system programs: recorded only for sessions of people."""
_OLD = "umount stime"
_OPENING = "creat open openat openat2 open_by_handle_at truncate ftruncate"
"""Frequent in every program: recorded only where the kernel denied them to people."""
_EVERY_CALL = f"{_RARE} {_OFTEN} {_OLD}"
"""Also those that x86_64 does not have."""
_WATCHED = (
    r"(?!\S*(?:/\.|//))/(?:etc/[\w./-]+|(?:usr/)?s?bin/[\w.-]+|usr/lib(?:exec)?/[\w.-]+/[\w./-]+|boot/[\w./-]+|root/?"
    r"|var/log/(?!audit|messages|secure|journal)[\w.-]+/?|(?:var/)?run/(?:faillock|utmp)/?|var/spool/cron/?)"
)
"""Paths that may be watched: none that programs write to all day."""
_RUN = r"(?!\S*(?:/\.|//))/(?:(?:usr/)?s?bin|usr/libexec)/(?!\S*\.so)[\w./-]+"
_ARCH, _KEY = r"-F arch=b(?:32|64)", r"(?: -k [\w-]+| -F key=[\w-]+)?"
_PEOPLE = r"(?: -F auid>=[0-9]{3,6} -F auid!=(?:unset|-1|4294967295))"
_LOGINS = rf"(?:{_PEOPLE}| -F auid=0)"
_DENIED = r" -F exit=-E(?:ACCES|PERM)"
_RAISED = r"(?: -C uid!=euid -F euid=0| -C gid!=egid -F egid=0)"
"""A program that runs with more rights than its caller has."""
_ADMIN_RUN = r"(?!\S*(?:/\.|//))/(?:(?:usr/)?sbin/[\w.-]+|(?:usr/)?bin/kmod)"
_NARROWED = r"(?: -F (?:auid|euid|uid|gid|egid)(?:!?=|>=)[0-9]{1,10}| -F exit=-E(?:ACCES|PERM)| -F success=[01])*"
_APART = r"(?: -C (?:uid!=euid|gid!=egid|auid!=uid))?"


def _build_calls_pattern(names: str) -> str:
    one = f"(?:{names.replace(' ', '|')})"
    return rf"(?: -S {one}(?:,{one})*)+"


_ALWAYS = r"-a (?:always,exit|exit,always)"
_FORMS = (
    r"-e [12]|-f [12]|-b [1-9][0-9]{3,5}|--backlog_wait_time [0-9]{1,6}|--loginuid-immutable",
    rf"-w {_WATCHED} -p (?:wa|aw|w|a){_KEY}",
    rf"-w {_ADMIN_RUN} -p x{_KEY}",
    rf"{_ALWAYS}(?: {_ARCH})? -F (?:path|dir)={_WATCHED} -F perm=(?:wa|aw|w|a){_PEOPLE}?{_NARROWED}{_KEY}",
    rf"{_ALWAYS}(?: {_ARCH})? -F path={_RUN} -F perm=x{_PEOPLE}{_NARROWED}{_KEY}",
    rf"{_ALWAYS}(?: {_ARCH})?{_build_calls_pattern(_RARE)}{_APART}{_PEOPLE}?{_NARROWED}{_KEY}",
    rf"{_ALWAYS} -F arch=b32{_build_calls_pattern(f'{_RARE} {_OLD}')}{_APART}{_PEOPLE}?{_NARROWED}{_KEY}",
    rf"{_ALWAYS} -F arch=b32{_build_calls_pattern(_EVERY_CALL)}{_APART}{_LOGINS}{_NARROWED}{_KEY}",
    rf"{_ALWAYS} -F arch=b64{_build_calls_pattern(f'{_RARE} {_OFTEN}')}{_APART}{_LOGINS}{_NARROWED}{_KEY}",
    rf"{_ALWAYS} {_ARCH}{_build_calls_pattern(_OPENING)}{_DENIED}{_PEOPLE}{_KEY}",
    rf"{_ALWAYS} {_ARCH} -S execve{_RAISED}{_KEY}",
    rf"{_ALWAYS} {_ARCH} -S execve -F subj_type=[a-z_]{{1,64}}_t(?: -F euid=0|{_PEOPLE}){_KEY}",
    rf"{_ALWAYS} {_ARCH} -S (?:ptrace|clock_settime) -F a0=0x[0-9a-f]{{1,4}}{_KEY}",
)
_NEW = re.compile("|".join(_FORMS), re.ASCII)
_CONTROL = re.compile(r"(-[bef]|--[a-z_-]+)\b")
_WAIT = re.compile(r"--backlog_wait_time ([0-9]{1,6})")
_MOST_WAIT = 60_000
"""In ticks. Kernels with a slow clock refuse larger values, and then load none of the later rules."""
_LOCKED = "-e 2"
_FILES = ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules")


def judge_audit_edit(edit: FileEdit) -> Objection | None:
    added = [line for line in edit.added if is_content_line(line)]
    for line in added:
        if not is_permitted_rule(line):
            return Objection("evidence tampering", f"{edit.path}: {line!r} records nothing more.")
    replaced = {_find_control_option(line) for line in added}
    for line in (" ".join(line.split()) for line in edit.removed if is_content_line(line)):
        if line in added or any(_is_rule_widened_by(line, one) for one in added):
            continue
        if not _find_control_option(line) or _find_control_option(line) not in replaced:
            return Objection("evidence tampering", f"{edit.path}: {line!r} may not be removed.")
    return _check_order(edit)


def _is_rule_widened_by(line: str, new_line: str) -> bool:
    """Return True if the rule `new_line` is `line` with more system calls, and the same place and order otherwise."""
    (rest, calls), (other, more) = _split_rest_and_calls(line), _split_rest_and_calls(new_line)
    return bool(calls) and rest == other and calls <= more


def _split_rest_and_calls(line: str) -> tuple[list[str], set[str]]:
    """Split a rule into its other words and its system calls."""
    words = line.split()
    places = [place for place, word in enumerate(words) if word == "-S"]
    calls = {call for place in places for call in "".join(words[place + 1 : place + 2]).split(",")}
    named = {place + 1 for place in places} | set(places)
    return [word for place, word in enumerate(words) if place not in named], calls


def is_permitted_rule(line: str) -> bool:
    """Return True for a line of the grammar: it may name programs, but there is no way to run one."""
    plain = " ".join(line.split())
    if "\t" in line or line.startswith(" ") or not _NEW.fullmatch(plain):
        return False
    wait = _WAIT.fullmatch(plain)
    return wait is None or int(wait[1]) <= _MOST_WAIT


def _check_order(edit: FileEdit) -> Objection | None:
    """Refuse a bad order: -D drops the rules above it, the first match decides, nothing loads after the lock."""
    old, new = _list_rules(edit.before), _list_rules(edit.after or "")
    if not keeps_order(old, new):
        return Objection("evidence tampering", f"{edit.path}: the order of the rules may not change.")
    paths = (path for pattern in _FILES for path in edit.files.glob(pattern))
    standing = [line for path in paths for line in _list_rules(host_text.read_text(edit.files, path) or "")]
    for line in new:
        if line not in old and _is_below_existing_value(line, standing):
            return Objection("evidence tampering", f"{edit.path}: {line!r} would weaken a rule that is already there.")
    if _LOCKED in new and new[new.index(_LOCKED) + 1 :] != _list_rules_after_lock(old):
        return Objection("evidence tampering", f"{edit.path}: rules after {_LOCKED!r} would not be loaded.")
    return None


def _list_rules_after_lock(rules: list[str]) -> list[str]:
    return rules[rules.index(_LOCKED) + 1 :] if _LOCKED in rules else []


def _is_below_existing_value(line: str, other_lines: list[str]) -> bool:
    """Return True if a value is below an existing one. Any file may be loaded last, so all count."""
    switch, _, value = line.partition(" ")
    known = [other.partition(" ")[2] for other in other_lines if other.partition(" ")[0] == switch]
    numbers = [number for one in known if (number := host_text.parse_natural_number(one)) is not None]
    return switch in ("-b", "-e", "-f") and any(int(value) < number for number in numbers)


def _list_rules(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.split("\n") if is_content_line(line)]


def _find_control_option(line: str) -> str | None:
    match = _CONTROL.match(line)
    return match[1] if match else None
