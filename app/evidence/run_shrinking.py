"""Shrinks a run to its evidence: stores the pack in the database and deletes turn deltas from the log."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import EnvironmentUnusable
from app.events.kinds import AuditedRequest
from app.events.record import Recorded, parse_line
from app.evidence.pack import FILE, build_checked_files, build_pack
from app.evidence.signing_key import Signer
from app.evidence.verify import (
    BrokenPack,
    Files,
    build_zip_chunks_with_part_names,
    read_unverified_chain,
    unpack_zip_packed_by_temper,
)
from app.store import audit, shrunk_runs
from app.store.events import EventStore
from app.store.session_shared_within_request import open_read_session


@dataclass(frozen=True)
class ShrinkResult:
    run: str
    gone: int
    """Number of deleted events."""
    kept: int
    """Stored bytes of the pack."""


def read_evidence(database: Engine, run: str, signer: Signer) -> bytes:
    """Return the run's evidence.zip: the same bytes before and after shrinking, under the same key."""
    return find_kept_pack(database, run) or build_pack(EventStore(database).read_events(run), signer)


def find_kept_pack(database: Engine, run: str) -> bytes | None:
    """Return the stored evidence.zip of a shrunk run, or None if the run was not shrunk."""
    with open_read_session(database) as session:
        held = shrunk_runs.read_evidence_pack(session, run)
    try:
        return gzip.decompress(held) if held else None
    except (OSError, EOFError, zlib.error) as exc:
        raise EnvironmentUnusable(
            f"the evidence of run {run} cannot be read: {exc}. Restore the database from a backup."
        ) from exc


def read_whole_log(database: Engine, run: str) -> list[Recorded]:
    """Return all events of a run, from its evidence if it was shrunk."""
    held = find_kept_pack(database, run)
    if held is None:
        return list(EventStore(database).read_events(run))
    return [parse_line(line, digest) for _, line, digest in read_unverified_chain(unpack_zip_packed_by_temper(held))]


def store_evidence_and_delete_deltas_unless_shrunk(
    database: Engine, run: str, signer: Signer, who: str, now: float
) -> ShrinkResult | None:
    """Shrink a run; return None if another process is doing so. The pack is verified and stored before deletion."""
    held, digest = _build_compressed_pack_and_uncompressed_digest(
        build_checked_files(EventStore(database).read_events(run), signer)
    )
    if _compute_decompressed_digest_or_error(held) != digest:
        raise EnvironmentUnusable(
            f"run {run} stays whole: its evidence did not come back as it was packed. Check this machine."
        )
    audit.record_audit_event(database, _build_shrink_event(run, who, digest))
    with Session(database) as session, session.begin():
        if not shrunk_runs.mark_shrunk_and_store_pack(session, run, held, now):
            return None
    return ShrinkResult(run, shrunk_runs.delete_finished_turn_deltas(database, run), len(held))


def _build_compressed_pack_and_uncompressed_digest(files: Files) -> tuple[bytes, str]:
    """Return the compressed pack and the sha256 of the uncompressed one."""
    into, digest = io.BytesIO(), hashlib.sha256()
    with gzip.GzipFile(fileobj=into, mode="wb", mtime=0) as pressing:
        for _, chunk in build_zip_chunks_with_part_names(files):
            pressing.write(chunk)
            digest.update(chunk)
    return into.getvalue(), digest.hexdigest()


def _compute_decompressed_digest_or_error(compressed: bytes) -> str:
    """Return the sha256 of the decompressed pack, or the error if it cannot be decompressed."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(compressed)) as pack:
            return hashlib.file_digest(pack, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error) as exc:
        return str(exc)


def _build_shrink_event(run: str, who: str, digest: str) -> AuditedRequest:
    detail = f"{FILE} sha256 {digest}"
    did = f"tidy: shrink run {run} to its evidence"
    return AuditedRequest(who=who, right="admin", via="terminal", source="", did=did, status=0, detail=detail)


def check_pack_against_shrunk_log(archive: bytes, rows: Iterable[tuple[int, bytes, str]]) -> Files:
    """Return the pack's files if the log equals the pack's except for missing turn deltas; else raise BrokenPack."""
    files, left = unpack_zip_packed_by_temper(archive), iter(rows)
    row = next(left, None)
    for one in read_unverified_chain(files):
        if row and row[0] == one[0]:
            if row != one:
                break
            row = next(left, None)
        elif json.loads(one[1])["kind"] != "turn.delta":
            raise BrokenPack(f"event {one[0]} is missing, and it is no piece of a turn")
    if row:
        raise BrokenPack(f"event {row[0]} of the log is not the one that the evidence has")
    return files
