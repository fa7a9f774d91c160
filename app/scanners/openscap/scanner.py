"""Runs OpenSCAP on the host; content is uploaded once and results are parsed here."""

import asyncio
import gzip
import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence

from app.errors import TemperError, is_storage_or_host_connection_fault
from app.scanners.openscap import oscap_command
from app.scanners.openscap.arf import RuleOutcome, read_arf
from app.scanners.openscap.datastream_excerpt import CannotCut, DataStream, open_datastream
from app.scanners.openscap.oscap_command import OscapResult, ScanFailed, ScanInput, Shell, build_scan_command
from app.scanners.openscap.scap_files import ScapContent
from app.scanners.scanner import Progress, Verdict
from app.syntax.host_files_protocol import Files
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

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


log = logging.getLogger(__name__)

Read = Callable[[], bytes]
SECONDS_WHOLE, SECONDS_RULE = 3600.0, 120.0
"""A whole profile of DISA's takes a quarter of an hour where a processor is emulated."""
SECONDS_SILENT = 900.0
"""A scan that decides no rule for so long hangs, for all that anybody can see."""
_SMALL, _UPLOAD = 60.0, 300.0
_FOREIGN = "OpenSCAP judges a host as it stands, not a rehearsal; its verdict comes after the change."


class OpenScapScanner:
    name = "OpenSCAP"

    def __init__(self, shell: Shell, content: ScapContent, ids: Mapping[str, str], folder: str) -> None:
        """`ids` maps the skill's rules to the content's ids; `folder` is on the host."""
        self._shell = shell
        self._content = content
        self._ids = ids
        self._folder = folder.rstrip("/")
        self._kept: dict[str, Read] = {}
        """The whole content by its digest on the host: the data stream, then the tailoring if there is one."""
        self._datastream: DataStream | None = None
        self._excerpts: dict[tuple[str, ...], ScanInput | None] = {}
        self._one_at_a_time = asyncio.Lock()

    async def scan(self, files: Files, rules: Sequence[str], on_judged_count: Progress | None = None) -> list[Verdict]:  # noqa: ARG002  (it reads the host)
        try:
            return await self.judge_rules(rules, on_judged_count)
        except TemperError as exc:
            if is_storage_or_host_connection_fault(exc):
                raise
            log.warning("scan failed", extra={"reason": str(exc)})
            return [Verdict(rule, "error", redact_secrets(str(exc))) for rule in rules]

    async def scan_rehearsal_if_supported(self, files: Files, rules: Sequence[str]) -> list[Verdict]:  # noqa: ARG002
        return [Verdict(rule, "unknown", _FOREIGN) for rule in rules]

    async def judge_rules(self, rules: Sequence[str], on_judged_count: Progress | None = None) -> list[Verdict]:
        """Like `scan`, but raises errors."""
        known = [rule for rule in rules if rule in self._ids]
        outcomes = (
            await asyncio.to_thread(read_arf, await self.scan_and_fetch_report(known, on_judged_count)) if known else {}
        )
        return [self._build_verdict(rule, outcomes) for rule in rules]

    async def scan_and_fetch_report(self, rules: Sequence[str], on_judged_count: Progress | None = None) -> bytes:
        """Return OpenSCAP's report on these rules, or on the whole profile if these are all of them.

        A whole profile is judged on the content as it was published, some rules on an excerpt of it.
        """
        whole = set(rules) == set(self._ids)
        asked = [] if whole else [self._ids[rule] for rule in rules]
        seconds = SECONDS_WHOLE if whole else min(SECONDS_WHOLE, SECONDS_RULE * len(asked))
        sent = None if whole else await asyncio.to_thread(self._build_excerpt_once_or_none_if_uncuttable, tuple(asked))
        async with self._one_at_a_time:
            given = sent or await self._build_whole_content_input_without_upload()
            ran = await self._run_scan_command_once(given, asked, seconds, on_judged_count)
            if oscap_command.is_content_missing(ran) and not sent:
                await self._upload_content_if_missing()
                ran = await self._run_scan_command_once(given, asked, seconds, on_judged_count)
        return await asyncio.to_thread(oscap_command.extract_report, ran, seconds)

    async def _run_scan_command_once(
        self, scan_input: ScanInput, content_rule_ids: Sequence[str], seconds: float, on_judged_count: Progress | None
    ) -> OscapResult:
        done: dict[str, None] = {}

        def report_judged_rule(line: str) -> None:
            if on_judged_count and (rule := oscap_command.parse_judged_rule(line)):
                done[rule] = None
                on_judged_count(len(done))

        command = build_scan_command(self._folder, scan_input, self._content.profile, content_rule_ids, seconds)
        on_line = report_judged_rule if on_judged_count else None
        return await self._shell.run(command, seconds + 15, scan_input.sent, on_line)

    async def fetch_fix_script(self, rule: str) -> str:
        """Return the vendor's fix script for a rule, generated by the host's oscap; "" if there is none."""
        if rule not in self._ids:
            return ""
        async with self._one_at_a_time:
            given = await self._build_whole_content_input_without_upload()
            await self._upload_content_if_missing()
            command = oscap_command.build_fix_command(given.datastream, self._content.profile, given.tailoring)
            ran = await self._shell.run(command, _SMALL + 15)
        if ran.code != 0:
            why = clean_text(ran.stderr.decode("utf-8", "replace"), 200)
            raise ScanFailed(f"OpenSCAP made no script of its content: {why}")
        return extract_fix_script(ran.stdout.decode("utf-8", "replace"), self._ids[rule])

    def _build_excerpt_once_or_none_if_uncuttable(self, rules: tuple[str, ...]) -> ScanInput | None:
        """Return the excerpt for these rules; None if the content cannot be cut."""
        if rules not in self._excerpts:
            try:
                content = self._content
                self._datastream = self._datastream or open_datastream(content.datastream)
                excerpt = self._datastream.build_excerpt_and_tailoring(content.profile, rules, content.tailoring)
                self._excerpts[rules] = oscap_command.build_input_sent_with_scan(*excerpt)
            except CannotCut:
                self._excerpts[rules] = None
        return self._excerpts[rules]

    async def _build_whole_content_input_without_upload(self) -> ScanInput:
        """Return the paths of the whole content on the host."""
        if not self._kept:
            given = self._content.tailoring
            read: list[Read] = [self._content.datastream.read_bytes, *([lambda: given] if given else [])]
            self._kept = await asyncio.to_thread(lambda: {hashlib.sha256(one()).hexdigest(): one for one in read})
        paths = {digest: f"{self._folder}/{digest}.xml" for digest in self._kept}
        datastream, tailoring, *_ = (*paths.values(), "")
        return ScanInput(datastream, tailoring, "\n".join(f"{digest}  {path}" for digest, path in paths.items()))

    async def _upload_content_if_missing(self) -> None:
        """Upload the whole content unless the host has it: a host can be reset or cleaned up."""
        for digest, read in self._kept.items():
            ran = await self._shell.run(["sha256sum", f"{self._folder}/{digest}.xml"], _SMALL)
            if ran.code != 0 or ran.stdout.split(maxsplit=1)[:1] != [digest.encode()]:
                packed = await asyncio.to_thread(_compress_content, read)
                command = oscap_command.build_content_upload_command(self._folder, digest)
                oscap_command.require_content_whole_on_host(await self._shell.run(command, _UPLOAD, packed))

    def _build_verdict(self, rule: str, outcomes: Mapping[str, RuleOutcome]) -> Verdict:
        if rule not in self._ids:
            return Verdict(rule, "unknown", "The content that OpenSCAP was given has no such rule.")
        outcome = outcomes.get(self._ids[rule])
        if outcome is None:
            return Verdict(rule, "unknown", "OpenSCAP's result does not name this rule; it was not judged.")
        return Verdict(rule, outcome.word, redact_secrets(outcome.evidence), outcome.path)


def _compress_content(read: Read) -> bytes:
    return gzip.compress(read(), 6)
