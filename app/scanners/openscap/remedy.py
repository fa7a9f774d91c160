"""Extracts one rule's fix from the bash script that OpenSCAP generates for a profile."""

import re

from app.scanners.openscap.command import ScanFailed

_MISSING = "IS MISSING!"
_BEGIN = re.compile(r"^# BEGIN fix \(\d+ / \d+\) for '([^'\n]*)'\n#{20,}\n", re.MULTILINE)
_END = "# END fix for '{}'\n"
_COUNTED = re.compile(r"""^\(>&2 echo "Remediating rule \d+/\d+: '[^'\n]*'"\);?[ ]?""")
"""The counter in front of a fix is not part of it."""


def extract_fix_script(script: str, rule: str) -> str:
    """Return the rule's script unchanged; "" if the content has none. Raise ScanFailed if the script is ambiguous."""
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
