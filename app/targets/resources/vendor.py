"""A vendor's own script: verified by digest, readable, and shown in full."""

import hashlib
import re
from collections.abc import Sequence

from app.events.words import AnyAction, RunVendorScript
from app.targets.subjects.edit import Objection

LONGEST = 16384
LABEL, SCRIPT = "vendor's script", "| "
"""The prefixes of its lines in a diff."""
_READABLE = re.compile(r"[\t\n\x20-\x7e]*")
_LONGEST_LINE = 400
"""The longest line that a diff shows."""


def vendors(rule: str, text: str) -> RunVendorScript:
    return RunVendorScript(rule=rule, sha256=_digest(text), script=text)


def objection(action: RunVendorScript) -> Objection | None:
    if _digest(action.script) != action.sha256:
        return Objection("not understood", "the vendor's script has another digest than the action says.")
    if not _READABLE.fullmatch(action.script) or max(map(len, action.script.split("\n"))) > _LONGEST_LINE:
        reason = "the vendor's script cannot be shown as it is: odd characters, or lines of no end."
        return Objection("obfuscation", reason)
    return None


def shown(actions: Sequence[AnyAction]) -> str:
    """Return the scripts in full, to be shown before the diff of their result."""
    ours = (one for one in actions if isinstance(one, RunVendorScript))
    return "".join(f"{LABEL} {one.rule}, sha256 {one.sha256}\n{_lines(one.script)}" for one in ours)


def _lines(script: str) -> str:
    return "".join(f"{SCRIPT}{line}\n" for line in script.split("\n"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
