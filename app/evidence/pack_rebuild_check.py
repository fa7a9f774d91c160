"""Rebuilds a pack from its own events, to find papers that do not follow from them."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from app.errors import BadInput
from app.events.record import Recorded, parse_line
from app.evidence.build_id import compute_build_id
from app.evidence.document_catalog import PAPERS
from app.evidence.pack import build_pack_files
from app.evidence.verify import ATTESTED, RECEIPT, SEALED, STAMP, BrokenPack, Files, read_unverified_chain

LAST = ("manifest.json", ATTESTED)
"""Compared last, since they differ whenever another file does."""


@dataclass(frozen=True)
class _KnownSignatures:
    """A signer that returns the pack's own verified signatures, since the private key is not available."""

    public: str
    signature: str
    attested: str
    key_changes: list[dict[str, str]]

    def sign(self, content: bytes) -> str:
        return self.signature if content.startswith(SEALED) else self.attested

    def list_key_changes_since(self, named_key: str) -> list[dict[str, str]]:
        return self.key_changes if named_key != self.public else []


def describe_difference_from_rebuild(files: Files) -> str:
    """Rebuild a verified pack. Return the reason for a difference, or raise BrokenPack if the same build made it."""
    manifest = json.loads(files["manifest.json"])
    made_by = manifest.get("made_by")
    signature = files.get("manifest.sig", b"").decode("ascii", "replace").strip()
    changes = manifest.get("key_changes", [])
    given = _KnownSignatures(manifest.get("key", ""), signature, _read_statement_signature(files), changes)
    try:
        again = build_pack_files(_read_pack_events(files), given)
    except BadInput as exc:
        return f"its papers were not made again: {exc}"
    names = sorted({*files, *again} - {STAMP, RECEIPT}, key=lambda name: (name in LAST, name))
    differs = [name for name in names if files.get(name) != again.get(name)]
    if made_by == compute_build_id() and differs:
        raise BrokenPack(f"{differs[0]} is not what this Temper makes of these events")
    if papers := [paper.file for paper in PAPERS if paper.file in differs]:
        return (
            f"{papers[0]} is not what this Temper makes of these events: {_describe_pack_build_and_this_build(made_by)}"
        )
    return (
        f"its papers are what this Temper makes, too: {_describe_pack_build_and_this_build(made_by)}" if differs else ""
    )


def _read_statement_signature(files: Files) -> str:
    envelope = json.loads(files.get(ATTESTED, b'{"signatures": [{"sig": ""}]}'))
    return base64.b64decode(envelope["signatures"][0]["sig"]).hex()


def _describe_pack_build_and_this_build(made_by: object) -> str:
    return f"{str(made_by)[:60]!a} wrote it, and this is {compute_build_id()}"


def _read_pack_events(files: Files) -> Iterator[Recorded]:
    try:
        for _, line, digest in read_unverified_chain(files):
            yield parse_line(line, digest)
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as exc:
        raise BrokenPack(f"its events are not of the shape that Temper writes: {str(exc)[:200]!a}") from exc
