"""Signs issued evidence and chain heads, and notes each signature in the audit record."""

import json
import logging
import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import BadInput, EnvironmentUnusable
from app.events.kinds import AuditedRequest
from app.events.record import AUDIT
from app.evidence import verify
from app.evidence.external_log_receipt_by_command import FOLDER as RECEIPTS
from app.evidence.external_log_receipt_by_command import find_or_request_receipt
from app.evidence.rollout_bundle import write_bundle
from app.evidence.run_shrinking import read_evidence
from app.evidence.signing_key import (
    SigningKey,
    create_key_if_missing,
    create_next_key_and_file,
    find_key,
    is_valid_signature,
    replace_key,
)
from app.evidence.spool import Spool
from app.evidence.time_stamping import FOLDER, find_or_request_stamp
from app.private_files import write_new_private_file
from app.store import audit
from app.store.events import EventStore

log = logging.getLogger(__name__)

KEYS, HEAD = "keys", "audit.head"
_HEAD = b"temper audit head\n"
"""Signed data starts with its type, so that one signature cannot pass for another."""


@dataclass(frozen=True)
class Requester:
    who: str
    right: str
    via: str


ITSELF = Requester("temper", "", "")


class SignedHead(msgspec.Struct, frozen=True):
    """Stored outside the database, so that access to the database alone does not allow truncating the record."""

    seq: int
    hash: str
    key: str
    signature: str

    @property
    def is_valid(self) -> bool:
        return is_valid_signature(self.key, self.signature, _encode_head(self.seq, self.hash))


@dataclass(frozen=True)
class Notary:
    database: Engine
    folder: Path
    key: SigningKey
    authority: str = ""
    """URL of the time stamp authority; empty for none."""
    hook: tuple[str, ...] = ()
    """The command that enters statements in an external log; empty for none."""

    def issue_evidence(self, run: str, requester: Requester) -> bytes:
        """Return the run's evidence.zip. Its digest is in the audit record before this returns."""
        files = verify.unpack_zip_packed_by_temper(read_evidence(self.database, run, self.key))
        content = files["manifest.json"]
        data, statement = self.folder.parent, files.get(verify.ATTESTED)
        stamp = _try_request("a time stamp", lambda: find_or_request_stamp(data / FOLDER, self.authority, content))
        receipt = _try_request(
            "a log's receipt",
            lambda: find_or_request_receipt(data / RECEIPTS, self.hook, statement) if statement else None,
        )
        files |= {name: answer for name, answer in ((verify.STAMP, stamp), (verify.RECEIPT, receipt)) if answer}
        archive = b"".join(chunk for _, chunk in verify.build_zip_chunks_with_part_names(dict(sorted(files.items()))))
        manifest = json.loads(content)
        key = f" key={manifest['key']}" if "key" in manifest else ""
        digest = verify.compute_sha256(content)
        detail = f"events={manifest['events']} head={manifest['chain_head']} manifest={digest}{key}"
        self.append_audit_line_once(f"run {run}", digest, requester, f"seal: evidence of run {run}", detail)
        return archive

    def issue_bundle(self, rollout: str, requester: Requester) -> Spool:
        """Return the rollout's evidence as a spool. Each run's pack is noted in the record as issued."""
        events = list(EventStore(self.database).read_events(rollout))
        with ExitStack() as unfinished:
            archive = unfinished.enter_context(closing(Spool(self.folder.parent)))
            write_bundle(events, lambda run: self.issue_evidence(run, requester), self.key, archive)
            unfinished.pop_all()
        manifest = archive.get_sha256("manifest.json")
        detail = f"events={len(events)} head={events[-1].hash} manifest={manifest} key={self.key.public}"
        self.append_audit_line_once(
            f"rollout {rollout}", manifest, requester, f"seal: evidence of rollout {rollout}", detail
        )
        return archive

    def append_run_end_seal_to_audit(self, run: str) -> None:
        """Note the length and head of an ended run's log in the audit record."""
        if last := EventStore(self.database).read_last_link(run):
            seq, head = last
            detail = f"events={seq} head={head}"
            self.append_audit_line_once(f"run {run}", head, ITSELF, f"seal: run {run} ended", detail)

    def append_audit_line_once(self, subject: str, digest: str, requester: Requester, action: str, detail: str) -> None:
        """Append a line to the audit record unless an equal one was noted before."""
        with Session(self.database) as session:
            if audit.has_seal(session, subject, digest):
                return  # without taking the lock of the record
        event = AuditedRequest(
            who=requester.who, right=requester.right, via=requester.via, source="", did=action, status=0, detail=detail
        )
        if line := audit.append_seal_once(self.database, event, subject, digest):
            sign_head(self.folder, self.key, line.seq, line.hash)


def _try_request(answer_name: str, request: Callable[[], bytes | None]) -> bytes | None:
    """Return the answer, or None if the request fails: the pack is then issued without it."""
    try:
        return request()
    except EnvironmentUnusable as exc:
        log.warning("a pack goes out without %s: %s", answer_name, exc)
        return None


def open_notary(data: Path, database: Engine, authority: str = "", hook: tuple[str, ...] = ()) -> Notary:
    """Return a notary with the data folder's key, which is created if missing."""
    folder = data / KEYS
    notary = Notary(database, folder, find_key(folder) or create_key_if_missing(folder), authority, hook)
    # In the record before anything is signed with it.
    notary.append_audit_line_once("key", notary.key.public, ITSELF, "key: made", f"public={notary.key.public}")
    return notary


def change_signing_key(notary: Notary, requester: Requester, why: str) -> SigningKey:
    """Create a new key, record it with the old key's signature, and delete the old private half."""
    if not why.strip():
        raise BadInput("give the reason for changing the key: the audit log records it.")
    new, file = create_next_key_and_file(notary.folder)
    try:
        vouched = notary.key.sign(verify.NEXT_KEY + bytes.fromhex(new.public))
        detail = f"public={new.public} from={notary.key.public} signature={vouched} why={why.strip()[:300]}"
        after = Notary(notary.database, notary.folder, new)
        after.append_audit_line_once("key", new.public, requester, "key: changed", detail)
        replace_key(notary.folder, file, (notary.key.public, new.public, vouched))
    finally:
        file.unlink(missing_ok=True)
    return new


def is_key_successor(new: str, old: str, signature: str) -> bool:
    try:
        return is_valid_signature(old, signature, verify.NEXT_KEY + bytes.fromhex(new))
    except ValueError:
        return False


def sign_head(folder: Path, key: SigningKey, seq: int, head: str) -> None:
    """Sign and store a head, unless a newer one is stored."""
    if (there := find_signed_head(folder)) and there.seq >= seq:
        return
    signed = SignedHead(seq, head, key.public, key.sign(_encode_head(seq, head)))
    file = folder / f".{HEAD}.{secrets.token_hex(8)}"
    write_new_private_file(file, msgspec.json.encode(signed) + b"\n")
    file.replace(folder / HEAD)


def find_signed_head(folder: Path) -> SignedHead | None:
    """Return the stored head, or None if there is none or it cannot be decoded."""
    try:
        return msgspec.json.decode((folder / HEAD).read_bytes(), type=SignedHead)
    except (OSError, msgspec.MsgspecError):
        return None


def _encode_head(seq: int, head: str) -> bytes:
    return _HEAD + f"{AUDIT} {seq} {head}".encode()
