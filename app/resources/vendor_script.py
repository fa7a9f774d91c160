"""A vendor's own script: verified by digest, readable, and shown in full."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta

from app.resources.kind import Action, Objection, ResourceAction, ResourceKind

LONGEST = 16384
LABEL, SCRIPT = "vendor's script", "| "
"""The prefixes of its lines in a diff."""
_READABLE = re.compile(r"[\t\n\x20-\x7e]*")
_LONGEST_LINE = 400
"""The longest line that a diff shows."""


class RunVendorScript(ResourceAction, frozen=True, tag="run_vendor_script"):
    """The remediation of a rule as OpenSCAP generates it from the content; roles and people may not change it."""

    rule: Annotated[str, Meta(max_length=256, pattern="^[A-Za-z0-9_][A-Za-z0-9_.:-]*$")]
    """Rule id in the content."""
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    script: Annotated[str, Meta(max_length=LONGEST)]


def create_vendor_action(rule: str, text: str) -> RunVendorScript:
    return RunVendorScript(rule=rule, sha256=_hash_text(text), script=text)


def judge_script_digest_and_readability(action: RunVendorScript) -> Objection | None:
    if _hash_text(action.script) != action.sha256:
        return Objection("not understood", "the vendor's script has another digest than the action says.")
    if not _READABLE.fullmatch(action.script) or max(map(len, action.script.split("\n"))) > _LONGEST_LINE:
        reason = "the vendor's script cannot be shown as it is: odd characters, or lines of no end."
        return Objection("obfuscation", reason)
    return None


def format_vendor_scripts_for_review(actions: Iterable[Action]) -> str:
    """Return the scripts in full, to be shown before the diff of their result."""
    ours = (one for one in actions if isinstance(one, RunVendorScript))
    return "".join(f"{LABEL} {one.rule}, sha256 {one.sha256}\n{_mark_diff_lines_as_script(one.script)}" for one in ours)


def _mark_diff_lines_as_script(script: str) -> str:
    return "".join(f"{SCRIPT}{line}\n" for line in script.split("\n"))


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _explain_why_playbook_excludes_script(action: RunVendorScript, _: Sequence[str]) -> str:
    return (
        f"by the vendor's script (sha256 {action.sha256}), which a person approved for that host alone: "
        "on another it is to be seen on a copy and approved anew"
    )


KIND = ResourceKind(
    name="vendor",
    actions=(RunVendorScript,),
    find_candidates=None,
    is_possible=lambda _action, _host: False,
    list_words=lambda action: (action.sha256, b64encode(action.script.encode()).decode()),
    judge_action=judge_script_digest_and_readability,
    judge_states=lambda _: None,
    build_commands=_explain_why_playbook_excludes_script,
    alone="a vendor's script is a change by itself.",
)
