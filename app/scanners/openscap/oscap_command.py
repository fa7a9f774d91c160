"""Builds oscap commands and checks their exit codes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.errors import EnvironmentUnusable, TemperError
from app.text.clean import clean_text


@dataclass(frozen=True)
class OscapResult:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """Runs as an account that may read the whole host. Paths are the host's."""

    async def run(self, argv: Sequence[str], timeout: float) -> OscapResult: ...  # noqa: ASYNC109

    async def read_file(self, path: str, limit: int) -> bytes | None:
        """Return the content, None if absent; raise ActionFailed above `limit` bytes."""

    async def write_file(self, path: str, content: bytes) -> None:
        """Write a file readable by its owner only; the folder exists."""


_ID = re.compile(r"xccdf_[A-Za-z0-9.-]+_(?:rule|profile)_[A-Za-z0-9._-]+")
_TIMED_OUT, _KILLED, _NOT_FOUND = 124, 137, 127
_NO_ROOM = re.compile(r"write error|No space left|Read-only file system|File too large")
_JUDGED = (0, 2)
"""0: every rule passes; 2: some rule fails."""


class ScanFailed(TemperError):
    """No rule was judged."""


def build_eval_command(
    datastream: str, profile: str, rules: Sequence[str], result: str, seconds: float, tailoring: str = ""
) -> list[str]:
    """Build the scan command; the host's `timeout` ends it even if the connection is lost."""
    for id_ in (profile, *rules):
        if not _ID.fullmatch(id_):
            raise ScanFailed(f"{id_[:80]!a} is no id of a rule or a profile; nothing was run.")
    limit = ["timeout", "--kill-after=5", f"{seconds:.0f}"]
    chosen = [word for rule in rules for word in ("--rule", rule)]
    by = ["--tailoring-file", tailoring] if tailoring else []
    return [*limit, "oscap", "xccdf", "eval", *by, "--profile", profile, *chosen, "--results-arf", result, datastream]


def build_fix_command(datastream: str, profile: str, tailoring: str = "") -> list[str]:
    """Build the command that prints the profile's bash fixes; nothing is executed."""
    if not _ID.fullmatch(profile):
        raise ScanFailed(f"{profile[:80]!a} is no id of a profile; nothing was asked.")
    by = ["--tailoring-file", tailoring] if tailoring else []
    asked = ["oscap", "xccdf", "generate", "fix", "--fix-type", "bash", *by, "--profile", profile, datastream]
    return ["timeout", "--kill-after=5", "60", *asked]


def require_result(ran: OscapResult, seconds: float) -> None:
    """Raise ScanFailed or Unusable unless oscap produced a result."""
    if ran.code in _JUDGED:
        return
    complaint = ran.stderr.decode("utf-8", "replace")
    if ran.code is None or ran.code in (_TIMED_OUT, _KILLED):
        raise ScanFailed(f"OpenSCAP took longer than {seconds:.0f} s and was ended; ask for fewer rules.")
    if ran.code == _NOT_FOUND or "failed to run command" in complaint:
        installs = "apt-get install openscap-scanner, or dnf install openscap-scanner"
        raise EnvironmentUnusable(f"OpenSCAP is not installed there: {installs}.")
    if _NO_ROOM.search(complaint):
        why = "look whether the host's disk is full or read-only"
        raise ScanFailed(f"OpenSCAP could not write its result there: {why}.")
    raise ScanFailed(f"OpenSCAP judged nothing (exit {ran.code}): {_extract_reason(complaint) or 'it gave no reason'}")


def _extract_reason(complaint: str) -> str:
    lines = [line for line in complaint.splitlines() if line.strip() and not line.startswith("WARNING")]
    told = next((line for line in lines if "Error" in line), lines[0] if lines else "")
    return clean_text(re.sub(r"\s*\[\S+\.c:\d+\]", "", told), 300)
