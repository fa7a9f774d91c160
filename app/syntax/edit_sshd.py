"""Set an option in the global section of sshd_config, where the first value counts."""

import re

from app.errors import BadInput
from app.syntax import edit_lines, host_text
from app.syntax.host_text import fold_case
from app.syntax.sshd_line import extract_comment, parse_directive, split_arguments

_KEPT = re.compile(r"([ \t]*[^ \t=]+(?:[ \t]*=[ \t]*|[ \t]+))")


def find_sshd_option(text: str, key: str) -> str | None:
    lines = text.split("\n")
    found = _list_global_line_indexes(lines, key)
    here = parse_directive(lines[found[0]]) if found else None
    return None if here is None else here.value


def put_sshd_option(text: str, key: str, value: str) -> str:
    if fold_case(key) in {"match", "include"} or not compute_read_back_value(value):
        raise BadInput("set_option gives one keyword of sshd a value; write Match and Include lines with append_line")
    lines = text.split("\n")
    found = _list_global_line_indexes(lines, key)
    if found:
        keep = found[0]
        return edit_lines.replace_or_insert_line(text, _rewrite_value(lines[keep], value), keep, found[1:], 0)
    limit = _get_first_match_block_index(lines)
    at = edit_lines.find_index_below_commented_default(text, key, limit)
    if at is None:
        at = _skip_comment_above(lines, limit) if limit < len(lines) else edit_lines.get_index_after_all_lines(text)
    return edit_lines.replace_or_insert_line(text, f"{key} {value}", None, (), at)


def compute_read_back_value(value: str) -> str:
    """Return the value as sshd would read it back."""
    return " ".join(split_arguments(value) or ())


def _get_first_match_block_index(lines: list[str]) -> int:
    return next(iter(_list_keyword_line_indexes(lines, "match")), len(lines))


def _list_global_line_indexes(lines: list[str], key: str) -> list[int]:
    return _list_keyword_line_indexes(lines[: _get_first_match_block_index(lines)], key)


def _list_keyword_line_indexes(lines: list[str], key: str) -> list[int]:
    found = ((index, parse_directive(line)) for index, line in enumerate(lines))
    return [index for index, one in found if one and fold_case(one.keyword) == fold_case(key)]


def _rewrite_value(line: str, value: str) -> str:
    kept = _KEPT.match(line)
    start = kept[1] if kept else ""
    return f"{start}{value}{extract_comment(line.rstrip(host_text.TRAIL)[len(start) :])}"


def _skip_comment_above(lines: list[str], index: int) -> int:
    while index and lines[index - 1].startswith("#"):
        index -= 1
    while index and not lines[index - 1].strip(host_text.TRAIL):
        index -= 1
    return index
