"""The policy for sudoers: which lines may be added and removed. effects/sudo.py compares rights by account."""

import re

from app.targets.host_accounts import AGENT
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, keeps_order

_TIGHT = (0o440, 0o400)
_LOOSE = re.compile(r"NOPASSWD\s*:|!\s*authenticate\b")
_DENIES = re.compile(r"!\s*(?!authenticate\b)[/A-Z^]")
_STRICT_DEFAULT = re.compile(
    r"Defaults(?::[a-z_][a-z0-9_-]*)?\s+(?:authenticate|use_pty|env_reset|always_set_home|"
    r"ignore_dot|umask\s*=\s*0?077|"
    r"!(?:targetpw|rootpw|runaspw|visiblepw)|timestamp_timeout\s*=\s*[0-5]|passwd_tries\s*=\s*[1-3])"
)
_CUTS = (
    (re.compile(r"Defaults\s+requiretty"), "sudo would refuse all that works without a terminal, this program too"),
    (re.compile(r"Defaults\s+noexec"), "what sudo starts could start nothing else: no shell, no apt, no service"),
)
"""What nobody but a person can decide, since it ends what works today."""
_OF_AGENT = re.compile(rf"(?<![\w-])(?:{AGENT}|#1001|%#1001)(?![\w-])")
_TEXT = re.compile(r"\s*(?:##.*|#\s.*|#)?")


def judge_sudoers_edit(edit: FileEdit) -> Objection | None:
    if edit.mode_after not in (None, edit.mode_before, *_TIGHT):
        return Objection("privilege", f"{edit.path}: a sudoers file must have mode 0440 or 0400.")
    shrunk = {_require_password_in_line(line) for line in edit.removed if not _TEXT.fullmatch(line)}
    grown = {_fold_blanks(line) for line in edit.added}
    for line in (*edit.added, *edit.removed):
        if not _TEXT.fullmatch(line) and _OF_AGENT.search(line):
            return Objection("protected identity", f"{edit.path}: Temper may not change the rights of {AGENT}.")
    for line in (line for line in edit.added if not _TEXT.fullmatch(line)):
        if _fold_blanks(line) not in shrunk and not _STRICT_DEFAULT.fullmatch(line.strip()):
            return _create_refused_line_objection(edit, line)
    for line in edit.removed:
        if _TEXT.fullmatch(line) or _require_password_in_line(line) in grown:
            continue
        if "include" in line:
            reason = f"{edit.path}: without {line.strip()!r} sudo would not read drop-ins."
            return Objection("protected identity", reason)
        if not _LOOSE.search(line) or _DENIES.search(line):
            return edit.create_weakening_objection(line)
    old, new = (_list_rules_with_password_required(text) for text in (edit.before, edit.after or ""))
    if not keeps_order(old, new):
        reason = f"{edit.path}: the order of the lines may not change, because the last match decides."
        return Objection("privilege", reason)
    return None


def _list_rules_with_password_required(text: str) -> list[str]:
    return [_require_password_in_line(line) for line in text.split("\n") if not _TEXT.fullmatch(line)]


def _create_refused_line_objection(edit: FileEdit, line: str) -> Objection:
    if why := next((why for pattern, why in _CUTS if pattern.fullmatch(line.strip())), ""):
        return Objection("lockout", f"{edit.path}: with {line.strip()!r} {why}. A person decides.")
    if _LOOSE.search(line) or re.search(r"\bALL\b|=\s*\(|_Alias\b", line):
        return Objection("privilege", f"{edit.path}: {line.strip()!r} grants a new right.")
    return edit.create_unknown_objection(line)


def _require_password_in_line(line: str) -> str:
    """Return the line as it would be with a password required."""
    return _fold_blanks(re.sub(r"!\s*authenticate\b", "authenticate", re.sub(r"NOPASSWD\s*:", "", line)))


def _fold_blanks(line: str) -> str:
    return " ".join(line.split())
