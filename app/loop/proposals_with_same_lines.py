"""Find the proposals with the same lines as a change that harmed the host or that a person refused."""

from app.events.event_field_types import fingerprint_actions
from app.loop.state import Item
from app.text.diff_file_header_detection import mark_file_headers

_ANYWHERE_IN_FILE = ("alarm", "disapproved")
"""Causes of a failure that hold wherever in its file a line stands. What the scanner says can depend on the place."""


def list_fingerprints_of_proposals_with_same_lines(item: Item) -> tuple[str, ...]:
    attempt = item.attempt
    if not (attempt and attempt.proposed and attempt.failed and attempt.failed.cause in _ANYWHERE_IN_FILE):
        return ()
    lines = _list_changed_lines(attempt.proposed.diff)
    same = (one for one in item.candidates if lines and one.is_usable and _list_changed_lines(one.diff) == lines)
    return tuple(fingerprint_actions(one.actions) for one in same)


def _list_changed_lines(diff: str) -> list[tuple[str, str, str]]:
    """Return file, sign and words of each added or removed line that is not blank, sorted."""
    path, found = "", []
    for line, names_file in mark_file_headers(diff.splitlines()):
        if names_file:
            path = line.partition(" ")[2]
        elif line[:1] in ("+", "-") and line[1:].strip():
            found.append((path, line[0], " ".join(line[1:].split())))
    return sorted(found)
