"""Legal notices: the text that people see before and after a login may only become the one that was chosen."""

import re
from collections.abc import Collection

from app.resources.kind import Objection
from app.syntax import host_text
from app.syntax.files import Files

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

_SHORTEST = 3
"""The words of the shortest notice: fewer are the name of a setting."""


def find_lost_notice(paths: Collection[str], before: Files, after: Files, asks: frozenset[str]) -> Objection | None:
    """Return the objection to a notice that would be lost, cut or exchanged for a text that nobody chose."""
    chosen = {one.removeprefix(_ASK) for one in asks if one.startswith(_ASK)}
    for path in PLACES:
        if path not in paths:
            continue
        was, now = (_read_notice(files, path) for files in (before, after))
        whole = " ".join((host_text.read_text(after, path) or "").split())
        if not was or was == now or whole in chosen:
            continue
        doing = "be emptied" if not now else "become a text that neither the rule nor the site chose"
        return Objection("destruction", f"{path}: the notice may not {doing}.")
    return None


def list_chosen_notices(text: str) -> frozenset[str]:
    """Return "notice WORDS" for each text that a rule quotes or assigns to a banner."""
    assigned = [_resolve_pattern(single or double) for single, double in _ASSIGNED.findall(text)]
    texts = [one.split() for one in (*_QUOTED.findall(text), *assigned)]
    return frozenset(f"{_ASK}{' '.join(words)}" for words in texts if len(words) >= _SHORTEST)


def _read_notice(files: Files, path: str) -> str:
    lines = (host_text.read_text(files, path) or "").split("\n")
    words = [word for line in lines if not _is_greeting(line) for word in line.split()]
    return " ".join(words) if len(words) >= _SHORTEST else ""


def _is_greeting(line: str) -> bool:
    return bool(_GETTY.search(line) or _GREETINGS.search(line))


def _resolve_pattern(text: str) -> str:
    """Return the text that content keeps as a pattern: anchors, first alternative, `[\\s\\n]+` for a blank."""
    bare = re.sub(r"^\^?\(?|\)?\$?$", "", text).split("|", 1)[0]
    bare = re.sub(r"\[\\s\\n\]\+|\(\?:\[\\n\]\+\|\(\?:\\\\n\)\+\)|\\n", " ", bare)
    return bare.replace("\\", "")
