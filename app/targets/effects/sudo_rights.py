"""Compares two lists of sudo rights: the new list may allow no command that the old one did not.

No command is tried: patterns and links can only be resolved on the host. Each rule is compared with each rule of the
other list that could have decided instead.
"""

import re
from collections.abc import Sequence

from app.targets.effects.strength import Strength
from app.targets.granted import Right

_NOTHING = "nothing"
_BETWEEN = " | "
_RIGHT = re.compile(r"([^=]*)=\(([^)]*)\) \[([A-Z_ ]*)\]( <[^>]*>)? (!?)(.*)")
_GIVES = frozenset({"NOPASSWD", "EXEC", "SETENV", "FOLLOW"})
_MOST = 300
_PATTERN = re.compile(r"[*?\[\]\\^$:]")


def told(rights: Sequence[Right]) -> str:
    return _BETWEEN.join(map(_told, rights)) or _NOTHING


def _told(right: Right) -> str:
    words = " ".join(sorted(right.gives | right.takes))
    options = f" <{right.options.replace('>', '_')}>" if right.options else ""
    command = right.command.replace(_BETWEEN.strip(), "\\x7c")
    return f"{right.hosts}=({right.runas}) [{words}]{options} {'' if right.allowed else '!'}{command}"


def compare(was: str, now: str) -> Strength:
    old, new = _read(was), _read(now)
    if old is None or new is None or len(old) + len(new) > _MOST:
        return Strength.EQUAL if was == now else Strength.INCOMPARABLE
    less, more = _within(new, old), _within(old, new)
    if less:
        return Strength.EQUAL if more else Strength.STRONGER
    return Strength.WEAKER if more else Strength.INCOMPARABLE


def _read(text: str) -> list[Right] | None:
    if text in (_NOTHING, ""):
        return []
    found = [_RIGHT.fullmatch(part) for part in text.split(_BETWEEN)]
    return [_right(match) for match in found if match] if all(found) else None


def _right(match: re.Match[str]) -> Right:
    words = frozenset(match[3].split())
    return Right(match[1], match[2], match[6], not match[5], words & _GIVES, words - _GIVES, (match[4] or "").strip())


def _within(new: Sequence[Right], old: Sequence[Right]) -> bool:
    """Return True if `old` allows everything that `new` allows, as freely."""
    return not any(
        right.allowed
        and not any(_covers(later, right) for later in new[place + 1 :])
        and _gains(right, new[place + 1 :], old)
        for place, right in enumerate(new)
    )


def _gains(right: Right, after: Sequence[Right], old: Sequence[Right]) -> bool:
    if not any(_covers(known, right) for known in old):
        return True
    for place, known in enumerate(old):
        later = old[place + 1 :]
        if _apart(known, right) or any(_covers(one, right) or _covers(one, known) for one in later):
            continue
        if not any(_covers(one, known) for one in after) and not _no_freer(right, known):
            return True
    return False


def _no_freer(right: Right, known: Right) -> bool:
    """Return True if `right` grants no more than `known` for a command that both match."""
    same = right.options == known.options
    return known.allowed and same and right.gives <= known.gives and right.takes >= known.takes


def _covers(wide: Right, narrow: Right) -> bool:
    """Return True if every command that matches `narrow` also matches `wide`."""
    return (
        wide.options in ("", narrow.options)
        and wide.hosts in ("ALL", narrow.hosts)
        and _runas_covers(wide.runas, narrow.runas)
        and _command_covers(wide.command, narrow.command)
    )


def _runas_covers(wide: str, narrow: str) -> bool:
    if wide in (narrow, "ALL : ALL"):
        return True
    return wide == "ALL" and " : " not in f" {narrow}"


def _command_covers(wide: str, narrow: str) -> bool:
    return wide in ("ALL", narrow) or (_is_path(wide) and " " not in wide and narrow.startswith(f"{wide} "))


def _apart(one: Right, other: Right) -> bool:
    """Return True if no command can match both."""
    if one.runas.isalnum() and other.runas.isalnum() and "ALL" not in (one.runas, other.runas):
        return one.runas != other.runas
    (first, _, given), (second, _, wanted) = one.command.partition(" "), other.command.partition(" ")
    edits = "sudoedit" in (first, second) and (_is_path(first) or _is_path(second))
    if edits or not (_is_path(first) and _is_path(second)):
        return edits
    named = first.rpartition("/")[2] != second.rpartition("/")[2]
    plain = not (_PATTERN.search(given) or _PATTERN.search(wanted))
    return named or bool(plain and given and wanted and given != wanted)


def _is_path(command: str) -> bool:
    """Return True if the command is one file, not a folder or pattern."""
    path = command.partition(" ")[0]
    return path.startswith("/") and not path.endswith("/") and not _PATTERN.search(path)
