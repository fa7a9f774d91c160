"""Scripts that every login shell reads: a timeout and comments. A shell does far too much else."""

import re

from app.targets.subjects.edit import Edit, Objection, not_understood

_SECONDS = r"[1-9][0-9]{2,3}"
_STATEMENT = re.compile(
    rf"(?:(?:declare|typeset) -(?:xr|rx|r -x|x -r) |readonly |export )?TMOUT={_SECONDS}"
    r"|(?:export|readonly) TMOUT",
    re.ASCII,
)
_COMMENT = re.compile(r"\s*(?:#[^\\]*)?")


def judge(edit: Edit) -> Objection | None:
    for line in (*edit.added, *edit.removed):
        if not _is_harmless(line):
            return not_understood(edit.path, line)
    return None


def _is_harmless(line: str) -> bool:
    if _COMMENT.fullmatch(line):
        return True
    statements = [statement.strip() for statement in line.split(";")]
    return all(_STATEMENT.fullmatch(statement) for statement in statements if statement) and any(statements)
