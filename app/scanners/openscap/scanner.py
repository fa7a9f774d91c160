"""OpenSCAP on the host itself. Content is put there once; what it writes is read here."""

import asyncio
import hashlib
import logging
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence

from app.errors import TemperError
from app.scanners.openscap.arf import Report, RuleOutcome, read_arf
from app.scanners.openscap.command import ScanFailed, check, evaluate, remediate
from app.scanners.openscap.content import Content
from app.scanners.openscap.remedy import remedy_of
from app.scanners.openscap.shell import Shell
from app.scanners.openscap.xml import MOST
from app.scanners.verdict import Verdict
from app.syntax.files import Files
from app.text.clean import clean
from app.text.secrets import redacted

log = logging.getLogger(__name__)

Read = Callable[[], bytes]
SECONDS_WHOLE, SECONDS_RULE = 900.0, 120.0
_SMALL = 60.0
_FOREIGN = "OpenSCAP judges a host as it stands, not a rehearsal; its verdict comes after the change."


class OpenScap:
    name = "OpenSCAP"

    def __init__(self, shell: Shell, content: Content, ids: Mapping[str, str], folder: str) -> None:
        """`ids` are the rules of the skill with what the content calls them; `folder` is the host's."""
        self._shell = shell
        self._content = content
        self._ids = ids
        self._folder = folder.rstrip("/")
        self._digests: dict[Read, str] = {}
        """Of what was read once."""
        self._one_at_a_time = asyncio.Lock()

    async def scan(self, files: Files, rules: Sequence[str]) -> list[Verdict]:  # noqa: ARG002  (it reads the host)
        try:
            return await self.judge(rules)
        except TemperError as exc:
            log.warning("scan failed", extra={"reason": str(exc)})
            return [Verdict(rule, "error", redacted(str(exc))) for rule in rules]

    async def foresee(self, files: Files, rules: Sequence[str]) -> list[Verdict]:  # noqa: ARG002
        return [Verdict(rule, "unknown", _FOREIGN) for rule in rules]

    async def judge(self, rules: Sequence[str]) -> list[Verdict]:
        """As `scan`, but what goes wrong is raised."""
        known = [rule for rule in rules if rule in self._ids]
        report = await asyncio.to_thread(read_arf, await self.result(known)) if known else None
        return [self._verdict(rule, report) for rule in rules]

    async def result(self, rules: Sequence[str]) -> bytes:
        """The asset report as OpenSCAP wrote it: of these rules, or of the profile where they are all there are."""
        whole = set(rules) == set(self._ids)
        asked = [] if whole else [self._ids[rule] for rule in rules]
        seconds = SECONDS_WHOLE if whole else min(SECONDS_WHOLE, SECONDS_RULE * len(asked))
        async with self._one_at_a_time:
            datastream = await self._place(self._datastream)
            tailoring = await self._place(self._tailoring) if self._content.tailoring else ""
            written = f"{self._folder}/{secrets.token_hex(8)}.xml"
            try:
                command = evaluate(datastream, self._content.profile, asked, written, seconds, tailoring)
                check(await self._shell.run(command, seconds + 15), seconds)
                return await self._fetch(written)
            finally:
                await self._shell.run(["rm", "-f", written, f"{written}.gz"], _SMALL)

    async def remedy(self, rule: str) -> str:
        """The vendor's own script for one rule, by the host's oscap from our content; empty where it has none."""
        if rule not in self._ids:
            return ""
        async with self._one_at_a_time:
            datastream = await self._place(self._datastream)
            tailoring = await self._place(self._tailoring) if self._content.tailoring else ""
            ran = await self._shell.run(remediate(datastream, self._content.profile, tailoring), _SMALL + 15)
        if ran.code != 0:
            why = clean(ran.stderr.decode("utf-8", "replace"), 200)
            raise ScanFailed(f"OpenSCAP made no script of its content: {why}")
        return remedy_of(ran.stdout.decode("utf-8", "replace"), self._ids[rule])

    def _datastream(self) -> bytes:
        return self._content.datastream.read_bytes()

    def _tailoring(self) -> bytes:
        return self._content.tailoring

    async def _place(self, read: Read) -> str:
        """It lies there under its own digest, so that a host holds it once and a changed copy is found out.

        Asked of the host before every scan: a host may be reset or cleaned up under us.
        """
        digest = self._digests.get(read) or hashlib.sha256(await asyncio.to_thread(read)).hexdigest()
        path = f"{self._folder}/{digest}.xml"
        if not await self._holds(path, digest):
            await self._put(path, digest, await asyncio.to_thread(read))
        self._digests[read] = digest
        return path

    async def _put(self, path: str, digest: str, content: bytes) -> None:
        made = await self._shell.run(["mkdir", "-p", "-m", "0700", self._folder], _SMALL)
        if made.code != 0:
            raise ScanFailed(f"{self._folder} cannot be made on the host; the content has no place there.")
        await self._shell.put(f"{path}.part", content)
        if not await self._holds(f"{path}.part", digest):
            raise ScanFailed("The content did not reach the host whole; look whether its disk is full.")
        await self._shell.run(["mv", "-f", f"{path}.part", path], _SMALL)

    async def _holds(self, path: str, digest: str) -> bool:
        ran = await self._shell.run(["sha256sum", path], _SMALL)
        return ran.code == 0 and ran.stdout.split(maxsplit=1)[:1] == [digest.encode()]

    async def _fetch(self, written: str) -> bytes:
        """Packed on the way: a report of 14 MB is one of 1 MB."""
        packed = await self._shell.run(["gzip", "-f", written], _SMALL)
        content = await self._shell.get(f"{written}.gz", MOST) if packed.code == 0 else None
        if not content:
            raise ScanFailed("OpenSCAP left no result; look whether the host's disk is full.")
        return await asyncio.to_thread(_unpacked, content)

    def _verdict(self, rule: str, report: Report | None) -> Verdict:
        id_ = self._ids.get(rule)
        if id_ is None or report is None:
            return Verdict(rule, "unknown", "The content that OpenSCAP was given has no such rule.")
        outcome: RuleOutcome | None = report.outcomes.get(id_)
        if outcome is None:
            return Verdict(rule, "unknown", "OpenSCAP's result does not name this rule; it was not judged.")
        return Verdict(rule, outcome.word, redacted(outcome.evidence), outcome.path)


def _unpacked(content: bytes) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        whole = unpack.decompress(content, MOST)
    except zlib.error as exc:
        raise ScanFailed("OpenSCAP's result reached us damaged; scan again.") from exc
    if unpack.unconsumed_tail or not unpack.eof:
        raise ScanFailed(f"OpenSCAP's result is cut off or has more than {MOST >> 20} MiB; ask for fewer rules.")
    return whole
