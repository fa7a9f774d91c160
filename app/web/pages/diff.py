"""A unified diff as table rows; for an undone change, added and removed lines are swapped."""

from dataclasses import dataclass
from typing import Literal

from app.resources.vendor import LABEL, SCRIPT
from app.text.clean import clean_text

Kind = Literal["file", "hunk", "added", "removed", "same"]
ROWS = 200
"""Most rows to show. Lines of a vendor's script do not count: a person must be able to read all of it."""


@dataclass(frozen=True)
class DiffRow:
    kind: Kind
    sign: str
    text: str


def parse_diff_rows(diff: str, *, undone: bool = False) -> list[DiffRow]:
    lines = clean_text(diff, 60_000).splitlines()
    whole = sum(line.startswith(SCRIPT) for line in lines)
    rows = [_parse_diff_row(line) for line in lines[: ROWS + whole]]
    kept = [row for row in rows if row]
    return [_invert_row(row) for row in kept] if undone else kept


def _parse_diff_row(line: str) -> DiffRow | None:
    if line.startswith("+++ "):
        return DiffRow("file", " ", line[4:].removeprefix("b"))
    if line.startswith("resource "):
        return DiffRow("file", " ", line.removeprefix("resource "))
    if line.startswith(("--- ", "diff ", "new file", "deleted file", "index ", "similarity")):
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
        return DiffRow("removed", "−", row.text)
    if row.kind == "removed":
        return DiffRow("added", "+", row.text)
    return row
