"""The log inside a shared file: its lines, its signed manifest, and how to verify both.

app/static/shared-check.js verifies the same in a browser."""

import base64
import gzip
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.events.kinds import RunStarted, get_event_kind
from app.events.prompts_hidden_from_viewers import WITHHELD, redact_prompt_and_answers
from app.events.record import GENESIS, Recorded, format_timestamp, hash_line
from app.evidence.build_id import compute_build_id
from app.evidence.signing_key import Signer, is_valid_signature
from app.evidence.verify import BrokenPack, check_logged_signer_unless_key_given, compute_sha256

FORMAT = "temper shared file 1"
SEALED = b"temper shared file\n"
"""Prefix of the signed bytes, so that the signature is valid for nothing else."""
MARK = 8
"""Digits of each event's hash that the file has: enough to name the first event that is not what was recorded.

The chain head proves only the events after the last withheld one, whose hash cannot be computed; the digest of `lines`
in the manifest proves all of them."""
MOST_BYTES = 512 * 1024 * 1024
_BLOCK = re.compile(rb'<script type="application/octet-stream" id="shared-(\w+)">([A-Za-z0-9+/=\s]*)</script>')
_SHAPE_ERRORS = (KeyError, TypeError, ValueError, AttributeError, OSError, EOFError, RecursionError, zlib.error)


@dataclass(frozen=True)
class SharedLog:
    manifest: bytes
    signature: str
    lines: bytes
    """The events, each after the start of its hash; where a prompt or answers are withheld, after its whole hash. The
    manifest has their digest, except in files of older versions."""
    show: bytes
    """What the page plays; the manifest has its digest."""

    @property
    def page_data_blocks(self) -> dict[str, str]:
        """The data blocks of the page: base64, which cannot end the script element around it."""
        plain = {"manifest": self.manifest, "signature": self.signature.encode()}
        packed = {"lines": gzip.compress(self.lines, 9, mtime=0), "show": gzip.compress(self.show, 9, mtime=0)}
        return {name: base64.b64encode(content).decode() for name, content in (plain | packed).items()}


def build_shared_log(
    log: Sequence[Recorded], replay_content: bytes, manifest_fields: dict[str, Any], signer: Signer, *, prompts: bool
) -> SharedLog:
    """Return the signed log of a run. `manifest_fields` goes into the manifest.

    Prompts, and the host's answers to questions, are withheld unless `prompts` is set.
    """
    withheld = [] if prompts else [one.seq for one in log if get_event_kind(one.event) in WITHHELD]
    missing = frozenset(withheld)
    lines = b"\n".join(_encode_line(one, withheld=one.seq in missing) for one in log)
    started = next((one.event for one in log if isinstance(one.event, RunStarted)), None)
    changes = signer.list_key_changes_since(started.key) if started else []
    manifest = {
        "format": FORMAT,
        "made_by": compute_build_id(),
        "key": signer.public,
        **({"key_changes": changes} if changes else {}),
        "run": log[-1].run,
        **manifest_fields,
        "as_of": format_timestamp(log[-1].at),
        "events": len(log),
        "chain_head": log[-1].hash,
        "withheld": withheld,
        "lines": compute_sha256(lines),
        "show": compute_sha256(replay_content),
    }
    content = json.dumps(manifest, ensure_ascii=True).encode()
    return SharedLog(content, signer.sign(SEALED + content), lines, replay_content)


def _encode_line(one: Recorded, *, withheld: bool) -> bytes:
    if withheld:
        return f"{one.hash} ".encode() + redact_prompt_and_answers(one.line)
    return f"{one.hash[:MARK]} ".encode() + one.line


def check_shared_file_and_get_manifest(content: bytes, head: str = "", key: str = "") -> dict[str, Any]:
    """Return the manifest of a shared file if it verifies, else raise BrokenPack."""
    try:
        return check_shared_log_and_get_manifest(_parse_shared_file(content), head, key)
    except _SHAPE_ERRORS as exc:
        raise BrokenPack(f"the file is not of the shape that temper share writes: {exc}"[:300]) from exc


def _parse_shared_file(content: bytes) -> SharedLog:
    found = {name.decode(): base64.b64decode(text) for name, text in _BLOCK.findall(content)}
    lines, show = (_decompress_gzip_up_to_size_limit(found[name]) for name in ("lines", "show"))
    return SharedLog(found["manifest"], found["signature"].decode(), lines, show)


def _decompress_gzip_up_to_size_limit(gzip_content: bytes) -> bytes:
    reading = zlib.decompressobj(wbits=31)
    content = reading.decompress(gzip_content, MOST_BYTES)
    if not reading.eof:
        raise BrokenPack("a block of the file is cut off, or larger than any that temper share writes")
    return content


def check_shared_log_and_get_manifest(log: SharedLog, head: str = "", key: str = "") -> dict[str, Any]:
    """Return the manifest, or raise BrokenPack with the first failure. `head` and `key` are the required ones."""
    manifest: dict[str, Any] = json.loads(log.manifest)
    if manifest["format"] != FORMAT:
        raise BrokenPack(f"the format {str(manifest['format'])[:60]!a} is not known here: take a newer Temper")
    if not is_valid_signature(manifest["key"], log.signature, SEALED + log.manifest):
        raise BrokenPack("the manifest is not what was signed")
    if key and key != manifest["key"]:
        raise BrokenPack(f"it is signed by the key {manifest['key']}, and not by the one that you gave")
    if compute_sha256(log.show) != manifest["show"]:
        raise BrokenPack("the pictures of the replay are not what was signed")
    named = _check_lines_and_get_key(log.lines, manifest)
    if manifest.get("lines") not in (None, compute_sha256(log.lines)):
        raise BrokenPack("the events are not what was signed")
    check_logged_signer_unless_key_given(manifest, named, key)
    if head not in ("", manifest["chain_head"]):
        raise BrokenPack(f"the chain head is {manifest['chain_head']}, not {head}: this is another log")
    return manifest


def count_leading_events_vouched_for_by_sender_only(manifest: dict[str, Any]) -> int:
    """Return how many events only their sender vouches for: an older file signs none up to the last withheld one."""
    withheld = (seq for seq in manifest["withheld"] if isinstance(seq, int))
    return max(withheld, default=0) if manifest.get("lines") is None else 0


def _parse_event_or_empty(line: bytes) -> dict[str, Any]:
    """Return the event of a line, or nothing where the line has none that can be read: its hash is judged after."""
    try:
        return json.loads(line) if line.startswith(b"{") else {}
    except (ValueError, RecursionError):
        return {}


def _check_lines_and_get_key(lines: bytes, manifest: dict[str, Any]) -> str:
    """Return the signing key that the log names, or an empty string. Raise BrokenPack if the chain is broken.

    Across a withheld event, nothing here ties the events before it to the chain head."""
    previous, seq, withheld, named = GENESIS, 0, set(manifest["withheld"]), ""
    for seq, text in enumerate(lines.split(b"\n"), 1):
        mark, _, line = text.partition(b" ")
        event = _parse_event_or_empty(line)
        if seq in withheld and event.get("kind") not in WITHHELD:
            raise BrokenPack(f"event {seq} is not what was recorded: only prompts and answers may be withheld")
        previous = mark.decode("ascii") if seq in withheld else hash_line(previous, line)
        if previous[:MARK].encode() != mark[:MARK]:
            raise BrokenPack(f"event {seq} is not what was recorded: its hash does not follow from event {seq - 1}")
        if (event.get("seq"), event.get("run")) != (seq, manifest["run"]):
            raise BrokenPack(f"event {seq} says of itself that it is another")
        named = event.get("key", "") if event.get("kind") == "run.started" else named
    if (seq, previous) != (manifest["events"], manifest["chain_head"]):
        raise BrokenPack(f"its {seq} events do not lead to the chain head of {manifest['events']} that was signed")
    return named
