"""The keywords of sshd (OpenSSH 8.7), their known values, and which are allowed in Match blocks."""

import re
from functools import lru_cache

from app.syntax.host_text import fold_case
from app.syntax.sshd_builtin_tables import get_names_listed_in_entry, get_table

SWITCHES, _TIMES, _COUNTS, _SINGLES, _LISTS = (
    get_names_listed_in_entry("keywords", kind) for kind in ("switches", "times", "counts", "singles", "lists")
)
CHOICES = dict.fromkeys(SWITCHES, ("yes", "no")) | {
    name: get_names_listed_in_entry("choices", name) for name in get_table("choices")
}
RETIRED = get_names_listed_in_entry("keywords", "retired")
IN_MATCH = get_names_listed_in_entry("keywords", "in_match")
_KNOWN = frozenset((*CHOICES, *_TIMES, *_COUNTS, *_SINGLES, *_LISTS))
_ALIASES = get_table("aliases")
_GLOBAL_ALIASES = get_names_listed_in_entry("keywords", "global_aliases")
_BLANKS = r"[ \t\n\v\f\r]*"
_NUMBER = rf"{_BLANKS}\+?(?:0*[1-9][0-9]{{0,9}}|0+)"
_TIME = re.compile(rf"(?=.)(?:{_NUMBER}[smhdw])*(?:{_NUMBER})?")
_SPAN = re.compile(r"0*([0-9]{1,10})([smhdw]?)")
_COUNT = re.compile(rf"{_BLANKS}([+-]?)0*([0-9]{{1,10}})")
_MOST = 2**31 - 1
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@lru_cache(1024)
def normalize_keyword(keyword: str) -> str:
    """Return the current name of a keyword, in small letters; some had other names."""
    return _ALIASES.get(fold_case(keyword), fold_case(keyword))


def parse_seconds(value: str) -> int | None:
    """Parse a time as sshd does: 600, 10m, 1h30m. Return seconds, or None for what sshd rejects."""
    if not _TIME.fullmatch(fold_case(value)):
        return None
    total = sum(int(count) * SECONDS[unit] for count, unit in _SPAN.findall(fold_case(value)))
    return total if total <= _MOST else None


def parse_count(value: str) -> int | None:
    """Parse a whole number as sshd does; return None for what sshd rejects."""
    found = _COUNT.fullmatch(value)
    count = int(found[1] + found[2]) if found else -1
    return count if 0 <= count <= _MOST else None


def explain_rejection(keyword: str, arguments: tuple[str, ...], *, in_match: bool) -> str:
    """Return why sshd would reject the line; an empty string if it would not, as far as we know."""
    name = normalize_keyword(keyword)
    if name in RETIRED:
        return ""
    if name not in _KNOWN:
        return f"sshd does not know the keyword {keyword!a}"
    if in_match and (name not in IN_MATCH or fold_case(keyword) in _GLOBAL_ALIASES):
        return f"{keyword} is not allowed in a Match block"
    if name in _LISTS:
        return ""
    if len(arguments) > 1:
        return f"{keyword} takes one value, and more stand on the line"
    return _describe_bad_value(keyword, name, arguments[0])


def _describe_bad_value(keyword: str, normalized_keyword: str, value: str) -> str:
    if normalized_keyword in CHOICES and fold_case(value) not in CHOICES[normalized_keyword]:
        return f"{keyword} must be one of {', '.join(CHOICES[normalized_keyword])}"
    if normalized_keyword in _TIMES and parse_seconds(value) is None:
        return f"{keyword} must be a time such as 600 or 10m, of at most {_MOST} seconds"
    if normalized_keyword in _COUNTS and parse_count(value) is None:
        return f"{keyword} must be a whole number of at most {_MOST}"
    return ""
