"""A vendor's own script: verified by digest, readable, and shown in full."""

import hashlib
import re
from collections.abc import Sequence

from app.events.vocabulary import AnyAction, RunVendorScript
from app.targets.subjects.file_edit import Objection

LONGEST = 16384
LABEL, SCRIPT = "vendor's script", "| "
"""The prefixes of its lines in a diff."""
_READABLE = re.compile(r"[\t\n\x20-\x7e]*")
_LONGEST_LINE = 400
"""The longest line that a diff shows."""


def create_vendor_action(rule: str, text: str) -> RunVendorScript:
    return RunVendorScript(rule=rule, sha256=_hash_text(text), script=text)


def judge_vendor_script(action: RunVendorScript) -> Objection | None:
    if _hash_text(action.script) != action.sha256:
        return Objection("not understood", "the vendor's script has another digest than the action says.")
    if not _READABLE.fullmatch(action.script) or max(map(len, action.script.split("\n"))) > _LONGEST_LINE:
        reason = "the vendor's script cannot be shown as it is: odd characters, or lines of no end."
        return Objection("obfuscation", reason)
    return None


def render_vendor_scripts(actions: Sequence[AnyAction]) -> str:
    """Return the scripts in full, to be shown before the diff of their result."""
    ours = (one for one in actions if isinstance(one, RunVendorScript))
    return "".join(f"{LABEL} {one.rule}, sha256 {one.sha256}\n{_prefix_lines(one.script)}" for one in ours)


def _prefix_lines(script: str) -> str:
    return "".join(f"{SCRIPT}{line}\n" for line in script.split("\n"))


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
