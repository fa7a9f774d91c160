"""The policy for profile scripts: only a timeout, a umask that the rule states, and comments may change."""

import re

from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection

_SECONDS = r"[1-9][0-9]{2}"
_STATEMENT = re.compile(
    rf"(?:(?:declare|typeset) -(?:xr|rx|r -x|x -r) |readonly |export )?TMOUT={_SECONDS}"
    r"|(?:export|readonly) TMOUT",
    re.ASCII,
)
_UMASK = re.compile(r"[ \t]*umask 0?0[27]7;?[ \t]*", re.ASCII)
"""Alone on its line, as the table of stated settings reads it."""
_UMASK_NUMBER = re.compile(r"(?<=\bumask )0?([0-7]{3})\b")
_COMMENT = re.compile(r"\s*(?:#[^\\]*)?")


def judge_profile_edit(edit: FileEdit) -> Objection | None:
    if only_tightens_umasks(edit):
        return None
    for line in (*edit.added, *edit.removed):
        if not _is_harmless(line):
            return edit.create_unknown_objection(line)
    if edit.after is None:
        return None
    return _check_script_middle(edit, edit.after)


def only_tightens_umasks(edit: FileEdit) -> bool:
    """Return True if nothing differs but numbers of umask that keep out whom the old ones kept out; 077 at most."""
    if edit.after is None or _UMASK_NUMBER.sub("", edit.before) != _UMASK_NUMBER.sub("", edit.after):
        return False
    before, after = _UMASK_NUMBER.findall(edit.before), _UMASK_NUMBER.findall(edit.after)
    return len(before) == len(after) and all(
        was == now or int(was, 8) | int(now, 8) == int(now, 8) <= 0o077 for was, now in zip(before, after, strict=True)
    )


def _check_script_middle(edit: FileEdit, after: str) -> Objection | None:
    """Refuse changes between two other lines, where a condition or a here-document could be open."""
    old, new = _split_harmless_lines_at_others(edit.before), _split_harmless_lines_at_others(after)
    for was, now in list(zip(old, new, strict=False))[1:-1]:
        if was != now and not any(_STATEMENT.search(line) for line in was):
            return edit.create_unknown_objection(next((line for line in now if line not in was), "a line less"))
    return None


def _split_harmless_lines_at_others(text: str) -> list[list[str]]:
    """Return the harmless lines around and between the others."""
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _is_harmless(line):
            found[-1].append(line)
        else:
            found.append([])
    return found


def _is_harmless(line: str) -> bool:
    if _COMMENT.fullmatch(line) or _UMASK.fullmatch(line):
        return True
    return all(_STATEMENT.fullmatch(statement.strip()) for statement in line.rstrip().removesuffix(";").split(";"))
