"""Legal notices: the text that people see before and after a login may only become the one that was chosen."""

import re
from collections.abc import Collection

from app.resources.kind import Objection
from app.syntax import host_text
from app.syntax.host_files_protocol import Files

PLACES = ("/etc/issue", "/etc/issue.net", "/etc/motd")
_ASK = "notice "
_GETTY = re.compile(r"\\[a-zA-Z]")
_GREETINGS = re.compile(
    r"Debian GNU/Linux|Ubuntu|Red Hat Enterprise Linux|Kernel |free software|exact distribution terms"
    r"|individual files in /usr/share/doc|NO WARRANTY|permitted by applicable law"
)
"""What distributions ship in these files is no notice."""
_QUOTED = re.compile(r"`([^`]{3,8000})`")
_ASSIGNED = re.compile(r"^\w*banner\w*=(?:'([^']{3,8000})'|\"([^\"]{3,8000})\")", re.MULTILINE | re.IGNORECASE)
_SPOKEN = re.compile(r"\"([^\"]{1,8000})\"")
_LONG = 60
"""The letters of a notice in double quotes: shorter texts are names and settings."""
_SHORTEST = 3
"""The words of the shortest notice: fewer are the name of a setting."""


def find_notice_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str]
) -> Objection | None:
    """Return the objection to a notice that would be lost or cut, or to a new text that nobody chose."""
    for path in PLACES:
        if path in paths and (found := _judge_text(path, *_read_before_and_after(path, before, after), asks)):
            return found
    return None


def _judge_text(path: str, was: str, now: str, asks: frozenset[str]) -> Objection | None:
    if is_notice_asked_by_rule(now, asks):
        return None
    notice, kept = _extract_notice_without_greetings(was), _extract_notice_without_greetings(now)
    if notice and not kept:
        return Objection("destruction", f"{path}: the notice may not become empty.")
    known = set(_list_nonblank_lines_with_single_blanks(was))
    added = [line for line in _list_nonblank_lines_with_single_blanks(now) if line not in known]
    if (notice != kept and notice) or (added and not is_notice_asked_by_rule(" ".join(added), asks)):
        reason = f"{path}: the notice may not become a text that neither the rule nor the site chose."
        return Objection("destruction", reason)
    return None


def is_notice_asked_by_rule(text: str, asks: frozenset[str]) -> bool:
    return f"{_ASK}{' '.join(text.split())}" in asks


def _read_before_and_after(path: str, before: Files, after: Files) -> tuple[str, str]:
    return host_text.read_text(before, path) or "", host_text.read_text(after, path) or ""


def build_notice_asks_for_file_and_sshd(rule_text: str) -> frozenset[str]:
    """Return "notice WORDS" for each text that a rule quotes or assigns to a banner, for the file and for sshd."""
    assigned = [_convert_notice_pattern_to_text(single or double) for single, double in _ASSIGNED.findall(rule_text)]
    spoken = [one for one in _SPOKEN.findall(rule_text) if len(one) >= _LONG]
    texts = [one.split() for one in (*_QUOTED.findall(rule_text), *spoken, *assigned)]
    chosen = [f"{_ASK}{' '.join(words)}" for words in texts if len(words) >= _SHORTEST]
    return frozenset((*chosen, *(f"sshd {one}" for one in chosen)))


def read_notice_if_path_is_issue_or_motd(path: str, files: Files) -> str:
    """Return the notice that a program shows from one of these files; empty for a blank one, and for any other file."""
    return _extract_notice_without_greetings(host_text.read_text(files, path) or "") if path in PLACES else ""


def _extract_notice_without_greetings(text: str) -> str:
    words = [word for line in text.split("\n") if not _is_greeting(line) for word in line.split()]
    return " ".join(words) if len(words) >= _SHORTEST else ""


def _list_nonblank_lines_with_single_blanks(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


def _is_greeting(line: str) -> bool:
    return bool(_GETTY.search(line) or _GREETINGS.search(line))


def _convert_notice_pattern_to_text(pattern: str) -> str:
    """Return the text that content keeps as a pattern: anchors, first alternative, `[\\s\\n]+` for a blank."""
    bare = re.sub(r"^\^?\(?|\)?\$?$", "", pattern)
    bare = re.sub(r"\[\\s\\n\]\+|\(\?:\[\\n\]\+\|\(\?:\\\\n\)\+\)|\\n", " ", bare)  # it has a | of its own
    return bare.split("|", 1)[0].replace("\\", "")
