"""Replace, drop and add lines of a text; all others stay unchanged."""

from collections.abc import Collection


def replace_or_insert_line(
    text: str, line_text: str, replaced_index: int | None, dropped_indexes: Collection[int], insert_index: int
) -> str:
    """Write the line in place of the one at `replaced_index`, or else before the one at `insert_index`.

    The lines at `dropped_indexes` go. Indexes start at 0.
    """
    lines = text.split("\n")
    open_end = lines[-1] != ""
    result = []
    for index, line in enumerate(lines):
        if index == insert_index and replaced_index is None:
            result.append(line_text)
        if index == replaced_index:
            result.append(line_text)
        elif index not in dropped_indexes:
            result.append(line)
    if replaced_index is None and insert_index >= len(lines):
        result.append(line_text)
    joined = "\n".join(result)
    return joined if (open_end and replaced_index is not None) or joined.endswith("\n") else f"{joined}\n"


def get_index_after_all_lines(text: str) -> int:
    """Return the index for a new last line: before the empty string after the final newline."""
    lines = text.split("\n")
    return len(lines) - 1 if lines[-1] == "" else len(lines)


def find_index_below_commented_default(text: str, key: str, end_index: int) -> int | None:
    """Return the index below a commented default such as `#PermitRootLogin no`; None if there is none."""
    for index, line in enumerate(text.split("\n")[:end_index]):
        words = line.replace("=", " ").removeprefix("#").split()
        if line.startswith("#") and words[:1] == [key] and len(words) <= 2:
            return index + 1
    return None
