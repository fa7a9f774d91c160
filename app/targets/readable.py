"""Which files of a host are told: to a role, to a reader, in a diff. The list is that of writing, and little more."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Protocol

from app.errors import ActionFailed
from app.syntax.files import Files
from app.targets import areas
from app.targets.areas import JUDGES
from app.targets.walk import parts_of
from app.text.secrets import keeps_secrets

NO_NEED = "not shown: this rule has no need of it"
SECRETIVE = "it holds secrets and is not shown"
CLOSED = "not shown: on the host it is not for everybody to read"
ODD = "not shown: this is no plain absolute path"
ABSENT = "no such file"

FACTS = (
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/redhat-release",
    "/etc/debian_version",
    "/etc/shells",
)
"""They say what system it is, and nothing about its owner."""
VENDOR = (
    *areas.VENDOR,
    "/etc/authselect/*",
    "/usr/lib/pam.d/*",
    "/usr/share/crypto-policies/*/*.txt",
    "/usr/share/crypto-policies/policies/*.pol",
    "/usr/share/crypto-policies/policies/modules/*.pmod",
    "/usr/lib/motd",
    "/run/motd",
    "/run/motd.dynamic",
)
"""What the files that are judged lead to, and what they override. It came with a package, or a program made it."""
_EVERYBODY = 0o004


class Followed(Files, Protocol):
    def leads_to(self, path: str) -> str | None:
        """Where a path ends once its links are followed; the path itself where it has none, None where it is lost."""


def why_not(path: str, files: Followed, named: Iterable[str] = ()) -> str:
    """Why the content of a file is not told; empty where it may be. `named` has the paths of the rule in work.

    A link tells what it leads to, so both ends are asked about. What neither a judge nor we know is told only
    where the rule names it and every account of the host may read it anyhow.
    """
    if not is_plain(path):
        return ODD
    goal = files.leads_to(path) or path
    if keeps_secrets(path) or keeps_secrets(goal):
        return SECRETIVE
    patterns = tuple(named)
    for end in dict.fromkeys((path, goal)):
        if judged(end) or fits(end, FACTS) or (end != path and fits(end, VENDOR)):
            continue
        if not fits(end, patterns):
            return NO_NEED
        state = files.state(end)
        if state is not None and is_closed(state.mode):
            return CLOSED
    return ""


def judged(path: str) -> bool:
    """Somebody judges what is written there, so what stands there is told as well."""
    return fits(path, (pattern for pattern, _ in JUDGES))


def fits(path: str, patterns: Iterable[str]) -> bool:
    return any(path.count("/") == pattern.count("/") and fnmatchcase(path, pattern) for pattern in patterns)


def is_closed(mode: int) -> bool:
    """Not every account of the host may read it: what is not known in it is taken for a secret sooner."""
    return not mode & _EVERYBODY


def is_plain(path: str) -> bool:
    try:
        parts_of(path)
    except ActionFailed:
        return False
    return True
