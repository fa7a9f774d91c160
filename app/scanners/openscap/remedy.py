"""One rule's part of the bash that OpenSCAP makes of a profile."""

import re

from app.scanners.openscap.command import ScanFailed

_MISSING = "IS MISSING!"
_BEGIN = re.compile(r"^# BEGIN fix \(\d+ / \d+\) for '([^'\n]*)'\n#{20,}\n", re.MULTILINE)
_END = "# END fix for '{}'\n"
_COUNTED = re.compile(r"""^\(>&2 echo "Remediating rule \d+/\d+: '[^'\n]*'"\);?[ ]?""")
"""Its place among the profile's rules is nothing of the rule's own."""


def remedy_of(script: str, rule: str) -> str:
    """Word for word; empty where the content has none for it."""
    found = [match for match in _BEGIN.finditer(script) if match[1] == rule]
    if not found:
        return ""
    if len(found) > 1:
        raise ScanFailed(f"OpenSCAP's script holds {rule} {len(found)} times; none of them is taken.")
    body, end, _ = script[found[0].end() :].partition(_END.format(rule))
    if not end:
        raise ScanFailed(f"OpenSCAP's script breaks off in {rule}; nothing of it is taken.")
    own = _COUNTED.sub("", body).strip("\n")
    return "" if not own.strip() or _MISSING in own else f"{own}\n"
