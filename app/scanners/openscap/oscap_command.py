"""Builds oscap commands and reads what they leave."""

import gzip
import hashlib
import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.errors import EnvironmentUnusable, TemperError
from app.scanners.openscap.safe_xml import MOST
from app.text.clean import clean_text


@dataclass(frozen=True)
class OscapResult:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """Runs as an account that may read the whole host. Paths are the host's."""

    async def run(
        self,
        argv: Sequence[str],
        timeout: float,  # noqa: ASYNC109
        stdin: bytes = b"",
        on_line: Callable[[str], None] | None = None,
    ) -> OscapResult:
        """Run a command. `on_line` is called with each line that it prints, on the caller's event loop."""


_ID = re.compile(r"xccdf_[A-Za-z0-9.-]+_(?:rule|profile)_[A-Za-z0-9._-]+")
_TIMED_OUT, _KILLED, _NOT_FOUND = 124, 137, 127
_NO_ROOM = re.compile(r"write error|No space left|Read-only file system|File too large")
JUDGED = (0, 2)
"""0: every rule passes; 2: some rule fails."""
_HERE = Path(__file__).parent
SCAN_SCRIPT = _HERE / "scan.sh"
_NO_FOLDER, _OTHER_CONTENT, _HUNG = 44, 45, 46
_CRASHED = (132, 133, 134, 135, 136, 139)
"""What a shell reports of a program that a signal for its own fault ended, from SIGILL to SIGSEGV."""
_LONGEST_IDLE, _IDLE_SHARE = 120.0, 0.25
"""oscap hangs if it uses no processor time for so many seconds, or for this share of its time."""
_REPORT = b"\ntemper: report\n"
_DATASTREAM, _TAILORING = "datastream.xml", "tailoring.xml"


class ScanFailed(TemperError):
    """No rule was judged."""


@dataclass(frozen=True)
class ScanInput:
    """What oscap reads: files that are on the host, or files that are sent along."""

    datastream: str
    tailoring: str
    """Empty without a tailoring."""
    digests: str
    size: int = 0
    sent: bytes = b""

    @property
    def first_oscap_eval_words(self) -> list[str]:
        by = ["--tailoring-file", self.tailoring] if self.tailoring else []
        return ["oscap", "xccdf", "eval", "--progress", *(["--skip-valid"] if self.sent else []), *by]


def build_input_sent_with_scan(datastream: bytes, tailoring: bytes) -> ScanInput:
    parts = {_DATASTREAM: datastream, **({_TAILORING: tailoring} if tailoring else {})}
    digests = "\n".join(f"{hashlib.sha256(part).hexdigest()}  {name}" for name, part in parts.items())
    sent = gzip.compress(datastream + tailoring, mtime=0)
    return ScanInput(_DATASTREAM, _TAILORING if tailoring else "", digests, len(datastream), sent)


def build_scan_command(
    folder: str, scan_input: ScanInput, profile: str, rules: Sequence[str], seconds: float
) -> list[str]:
    """Build the scan command; the host's `timeout` ends it even if the connection is lost.

    An excerpt has only the rules that are wanted. oscap is not asked for these by name, because it would then judge a
    rule that the profile leaves out, for instance for lack of a rule that it requires.
    """
    for id_ in (profile, *rules):
        if not _ID.fullmatch(id_):
            raise ScanFailed(f"{id_[:80]!a} is no id of a rule or a profile; nothing was run.")
    limit = ["timeout", "--kill-after=5", f"{seconds:.0f}"]
    chosen = [] if scan_input.sent else [word for rule in rules for word in ("--rule", rule)]
    asked = ["--profile", profile, *chosen, "--results-arf", "result.xml", scan_input.datastream]
    shell = ["sh", "-c", SCAN_SCRIPT.read_text(), "scan", folder, scan_input.digests, str(scan_input.size)]
    shell.append(str(math.ceil(min(_LONGEST_IDLE, _IDLE_SHARE * seconds))))
    return [*shell, *limit, *scan_input.first_oscap_eval_words, *asked]


def build_content_upload_command(folder: str, digest: str) -> list[str]:
    """Build the command that keeps content on the host under its digest. It reads the content from standard input."""
    return ["sh", "-c", (_HERE / "keep.sh").read_text(), "keep", folder, digest]


def build_fix_command(datastream: str, profile: str, tailoring: str = "") -> list[str]:
    """Build the command that prints the profile's bash fixes; nothing is executed."""
    if not _ID.fullmatch(profile):
        raise ScanFailed(f"{profile[:80]!a} is no id of a profile; nothing was asked.")
    by = ["--tailoring-file", tailoring] if tailoring else []
    asked = ["oscap", "xccdf", "generate", "fix", "--fix-type", "bash", *by, "--profile", profile, datastream]
    return ["timeout", "--kill-after=5", "60", *asked]


def parse_judged_rule(line: str) -> str:
    """Return the id of the rule that a line reports as judged; "" for any other line."""
    rule, _, word = line.partition(":")
    return rule if word and _ID.fullmatch(rule) else ""


def is_content_missing(ran: OscapResult) -> bool:
    """Return True if the host does not have the content, or has another one in its place."""
    return ran.code == _OTHER_CONTENT


def extract_report(ran: OscapResult, seconds: float) -> bytes:
    """Return the report; raise ScanFailed or EnvironmentUnusable unless oscap produced one."""
    _require_scan_result(ran, seconds)
    packed = ran.stdout.partition(_REPORT)[2]
    if not packed:
        raise ScanFailed("OpenSCAP left no result; look whether the host's disk is full.")
    unpack = zlib.decompressobj(wbits=31)
    try:
        whole = unpack.decompress(packed, MOST)
    except zlib.error as exc:
        raise ScanFailed("OpenSCAP's result reached us damaged; scan again.") from exc
    if unpack.unconsumed_tail or not unpack.eof:
        raise ScanFailed(f"OpenSCAP's result is cut off or has more than {MOST >> 20} MiB; ask for fewer rules.")
    return whole


def require_content_whole_on_host(ran: OscapResult) -> None:
    """Raise ScanFailed if the content is not whole on the host."""
    if ran.code == _NO_FOLDER:
        raise ScanFailed("No folder can be made for the content on the host; look whether its disk is full.")
    if is_content_missing(ran):
        raise ScanFailed("The content did not reach the host whole; look whether its disk is full.")


def _require_scan_result(ran: OscapResult, seconds: float) -> None:
    if ran.code in JUDGED:
        return
    require_content_whole_on_host(ran)
    complaint = ran.stderr.decode("utf-8", "replace")
    if ran.code is None or ran.code in (_TIMED_OUT, _KILLED):
        raise ScanFailed(f"OpenSCAP took longer than {seconds:.0f} s and was ended; ask for fewer rules.")
    if ran.code == _HUNG:
        raise ScanFailed("OpenSCAP hung three times, and was ended each time; scan again.")
    if ran.code in _CRASHED:
        raise ScanFailed(f"OpenSCAP crashed three times (exit {ran.code}); scan again, or look at the host's memory.")
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
