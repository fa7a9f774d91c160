"""A unified diff as table rows; for an undone change, added and removed lines are swapped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from app.resources.vendor_script import LABEL, SCRIPT
from app.text.clean import clean_text
from app.text.diff_file_header_detection import mark_file_headers

Kind = Literal["file", "hunk", "added", "removed", "same"]
Reach = Literal["", "near", "far"]
CLOSE, NEAR, NONE = 3, 6, 1_000_000
"""Lines. Up to CLOSE lines from a change every page shows, up to NEAR lines a page with some room."""
ROWS = 200
"""Most rows to show. Lines of a vendor's script do not count: a person must be able to read all of it."""

_HUNK = re.compile(r"@@ -(\d{1,7})\S* \+(\d{1,7})")


@dataclass(frozen=True)
class DiffRow:
    kind: Kind
    sign: str
    text: str
    number: int | None = None
    """The line's number in its file: the new one of an added or equal line, the old one of a removed line."""
    reach: Reach = ""
    """How far an equal line is from a change; a page shows the distant ones only where it has room."""


def parse_diff_rows(diff: str, *, undone: bool = False) -> list[DiffRow]:
    lines = clean_text(diff, 60_000).splitlines()
    whole = sum(line.startswith(SCRIPT) for line in lines)
    marked = mark_file_headers(lines[: ROWS + whole])
    rows = [row for line, is_header in marked if (row := _parse_diff_row_if_shown(line, is_header=is_header))]
    kept = list(_iterate_all_rows_with_context_distance(_number_rows(rows)))
    return [_invert_row(row) for row in kept] if undone else kept


def _iterate_all_rows_with_context_distance(rows: list[DiffRow]) -> Iterator[DiffRow]:
    """Yield the rows, each equal line with its distance from the nearest change in its hunk."""
    since, ahead = list(_count_lines_since_change(rows)), reversed(list(_count_lines_since_change(rows[::-1])))
    for row, before, after in zip(rows, since, ahead, strict=True):
        lines = min(before, after)
        is_plain = row.kind == "same" and row.sign == " "
        yield replace(row, reach="near" if lines <= NEAR else "far") if is_plain and CLOSE < lines < NONE else row


def _count_lines_since_change(rows: list[DiffRow]) -> Iterator[int]:
    """Yield for each row the lines since the last change above it."""
    lines = NONE
    for row in rows:
        lines = 0 if row.kind in ("added", "removed") else NONE if row.kind in ("file", "hunk") else lines + 1
        yield lines


def _number_rows(rows: list[DiffRow]) -> list[DiffRow]:
    """Number the lines below each hunk's header. Rows without a header, as those of resources, have no number."""
    numbered, old, new = [], 0, 0
    for row in rows:
        if row.kind in ("file", "hunk"):
            told = _HUNK.match(row.text)
            old, new = (int(told[1]), int(told[2])) if told and row.kind == "hunk" else (0, 0)
        elif old or new:  # a file that is removed has no new lines, and starts at 0
            numbered.append(replace(row, number=old if row.kind == "removed" else new))
            old, new = old + (row.kind != "added"), new + (row.kind != "removed")
            continue
        numbered.append(row)
    return numbered


def _parse_diff_row_if_shown(line: str, *, is_header: bool) -> DiffRow | None:
    """Return the row of a line, or None for one that is not shown."""
    if is_header:
        return DiffRow("file", " ", line[4:].removeprefix("b")) if line.startswith("+++ ") else None
    if line.startswith("resource "):
        return DiffRow("file", " ", line.removeprefix("resource "))
    if line.startswith(("diff ", "new file", "deleted file", "index ", "similarity")):
        return None
    if line.startswith(SCRIPT):
        return DiffRow("same", "|", line.removeprefix(SCRIPT))
    if line.startswith(LABEL):
        return DiffRow("file", " ", line)
    if line.startswith("@@"):
        return DiffRow("hunk", " ", line)
    if line.startswith("+"):
        return DiffRow("added", "+", line[1:])
    if line.startswith("-"):
        return DiffRow("removed", "−", line[1:])
    return DiffRow("same", " ", line.removeprefix(" "))


def _invert_row(row: DiffRow) -> DiffRow:
    if row.kind == "added":
        return replace(row, kind="removed", sign="−")
    if row.kind == "removed":
        return replace(row, kind="added", sign="+")
    return row
