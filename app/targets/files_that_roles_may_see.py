"""Which files of a host may be shown to roles and readers: the judged files, and a few more."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Protocol

from app.errors import ActionFailed
from app.syntax.host_files_protocol import Files
from app.targets import writable_areas
from app.targets.path_walk import require_and_split_plain_path
from app.targets.writable_areas import JUDGES
from app.text.redaction import is_secret_path

NO_NEED = "not shown: this rule has no need of it"
SECRETIVE = "it holds secrets and is not shown"
CLOSED = "not shown: on the host it is not for everybody to read"
ODD = "not shown: this is no plain absolute path"
ABSENT = "no such file"

FACTS = ("/etc/os-release", "/usr/lib/os-release", "/etc/redhat-release", "/etc/debian_version", "/etc/shells")
"""Files that identify the system and tell nothing about its owner."""
VENDOR = (
    *(*writable_areas.VENDOR, "/etc/authselect/*", "/usr/lib/pam.d/*", "/usr/share/crypto-policies/*/*.txt"),
    *("/usr/share/crypto-policies/policies/*.pol", "/usr/share/crypto-policies/policies/modules/*.pmod"),
    *("/usr/lib/motd", "/run/motd", "/run/motd.dynamic"),
)
"""Vendor files that judged files link to or override; installed by a package or generated."""
_EVERYBODY = 0o004


class LinkFollowingFiles(Files, Protocol):
    def resolve_links(self, path: str) -> str | None:
        """Return where a path leads once links are followed; the path itself without links, None if it escapes."""


def explain_withholding(path: str, files: LinkFollowingFiles, rule_paths: Iterable[str] = ()) -> str:
    """Return why the content may not be shown; an empty string if it may. `rule_paths` has the paths of the rule.

    Both ends of a link are checked. A file that no judge knows is shown only if the rule names it and every account
    of the host may read it.
    """
    if not is_absolute_path_without_dot_parts(path):
        return ODD
    goal = files.resolve_links(path) or path
    if is_secret_path(path) or is_secret_path(goal):
        return SECRETIVE
    patterns = tuple(rule_paths)
    for end in dict.fromkeys((path, goal)):
        if has_edit_judge(end) or matches_any_pattern(end, FACTS) or (end != path and matches_any_pattern(end, VENDOR)):
            continue
        if not matches_any_pattern(end, patterns):
            return NO_NEED
        state = files.state(end)
        if state is not None and is_read_restricted(state.mode):
            return CLOSED
    return ""


def has_edit_judge(path: str) -> bool:
    """Return True if the path has a judge: files that may be written may be read."""
    return matches_any_pattern(path, (pattern for pattern, _ in JUDGES))


def matches_any_pattern(path: str, patterns: Iterable[str]) -> bool:
    return any(path.count("/") == pattern.count("/") and fnmatchcase(path, pattern) for pattern in patterns)


def is_read_restricted(mode: int) -> bool:
    """Return True if some accounts may not read the file; shorter words then count as secrets."""
    return not mode & _EVERYBODY


def is_absolute_path_without_dot_parts(path: str) -> bool:
    try:
        require_and_split_plain_path(path)
    except ActionFailed:
        return False
    return True
