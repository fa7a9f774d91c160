"""Compares two lists of sudo rights: the new list may allow no command that the old one did not.

No command is tried: patterns and links can only be resolved on the host. Each rule is compared with each rule of the
other list that could have decided instead.
"""

import re
from collections.abc import Sequence

from app.targets.account_sudo_rights import SudoRight
from app.targets.effects.strictness_comparison import Strength

_NOTHING = "nothing"
_BETWEEN = " | "
_RIGHT = re.compile(r"([^=]*)=\(([^)]*)\) \[([A-Z_ ]*)\]( <[^>]*>)? (!?)(.*)")
_GIVES = frozenset({"NOPASSWD", "EXEC", "SETENV", "FOLLOW"})
_MOST = 300
_PATTERN = re.compile(r"[*?\[\]\\^$:]")


def format_rights(rights: Sequence[SudoRight]) -> str:
    return _BETWEEN.join(map(_format_right, rights)) or _NOTHING


def _format_right(right: SudoRight) -> str:
    words = " ".join(sorted(right.gives | right.takes))
    options = f" <{right.options.replace('>', '_')}>" if right.options else ""
    command = right.command.replace(_BETWEEN.strip(), "\\x7c")
    return f"{right.hosts}=({right.runas}) [{words}]{options} {'' if right.allowed else '!'}{command}"


def compare_rights(was: str, now: str) -> Strength:
    old, new = _parse_rights(was), _parse_rights(now)
    if old is None or new is None or len(old) + len(new) > _MOST:
        return Strength.EQUAL if was == now else Strength.INCOMPARABLE
    less, more = _is_within(new, old), _is_within(old, new)
    if less:
        return Strength.EQUAL if more else Strength.STRONGER
    return Strength.WEAKER if more else Strength.INCOMPARABLE


def _parse_rights(text: str) -> list[SudoRight] | None:
    if text in (_NOTHING, ""):
        return []
    found = [_RIGHT.fullmatch(part) for part in text.split(_BETWEEN)]
    return [_parse_right(match) for match in found if match] if all(found) else None


def _parse_right(match: re.Match[str]) -> SudoRight:
    words = frozenset(match[3].split())
    return SudoRight(
        match[1], match[2], match[6], not match[5], words & _GIVES, words - _GIVES, (match[4] or "").strip()
    )


def _is_within(new: Sequence[SudoRight], old: Sequence[SudoRight]) -> bool:
    """Return True if `old` allows everything that `new` allows, as freely."""
    return not any(
        right.allowed
        and not any(_covers_right(later, right) for later in new[place + 1 :])
        and _gains_permission(right, new[place + 1 :], old)
        for place, right in enumerate(new)
    )


def _gains_permission(right: SudoRight, later_new_rights: Sequence[SudoRight], old_rights: Sequence[SudoRight]) -> bool:
    if not any(_covers_right(known, right) for known in old_rights):
        return True
    for place, known in enumerate(old_rights):
        later = old_rights[place + 1 :]
        if _are_disjoint(known, right) or any(_covers_right(one, right) or _covers_right(one, known) for one in later):
            continue
        if not any(_covers_right(one, known) for one in later_new_rights) and not _has_no_freer_tags_and_options(
            right, known
        ):
            return True
    return False


def _has_no_freer_tags_and_options(right: SudoRight, known: SudoRight) -> bool:
    """Return True if `right` grants no more than `known` for a command that both match."""
    same = right.options == known.options
    return known.allowed and same and right.gives <= known.gives and right.takes >= known.takes


def _covers_right(wide: SudoRight, narrow: SudoRight) -> bool:
    """Return True if every command that matches `narrow` also matches `wide`."""
    return (
        wide.options in ("", narrow.options)
        and wide.hosts in ("ALL", narrow.hosts)
        and _covers_runas(wide.runas, narrow.runas)
        and _covers_command(wide.command, narrow.command)
    )


def _covers_runas(wide: str, narrow: str) -> bool:
    if wide in (narrow, "ALL : ALL"):
        return True
    return wide == "ALL" and " : " not in f" {narrow}"


def _covers_command(wide: str, narrow: str) -> bool:
    return wide in ("ALL", narrow) or (_names_single_file(wide) and " " not in wide and narrow.startswith(f"{wide} "))


def _are_disjoint(one: SudoRight, other: SudoRight) -> bool:
    """Return True if no command can match both."""
    if one.runas.isalnum() and other.runas.isalnum() and "ALL" not in (one.runas, other.runas):
        return one.runas != other.runas
    (first, _, given), (second, _, wanted) = one.command.partition(" "), other.command.partition(" ")
    edits = "sudoedit" in (first, second) and (_names_single_file(first) or _names_single_file(second))
    if edits or not (_names_single_file(first) and _names_single_file(second)):
        return edits
    named = first.rpartition("/")[2] != second.rpartition("/")[2]
    plain = not (_PATTERN.search(given) or _PATTERN.search(wanted))
    return named or bool(plain and given and wanted and given != wanted)


def _names_single_file(command: str) -> bool:
    """Return True if the command is one file, not a folder or pattern."""
    path = command.partition(" ")[0]
    return path.startswith("/") and not path.endswith("/") and not _PATTERN.search(path)
