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

from app.errors import Unusable
from app.events.kinds import PersonDid
from app.evidence.key import Signer
from app.evidence.pack import FILE, checked, pack
from app.evidence.verify import BrokenPack, Files, chain, chunks, unpack
from app.store import audit, tidy
from app.store.events import EventStore
from app.store.held import asking


@dataclass(frozen=True)
class Shrunk:
    run: str
    gone: int
    """Number of deleted events."""
    kept: int
    """Stored bytes of the pack."""


def evidence(database: Engine, run: str, signer: Signer) -> bytes:
    """Return the run's evidence.zip: the same bytes before and after shrinking, under the same key."""
    return kept(database, run) or pack(EventStore(database).events(run), signer)


def kept(database: Engine, run: str) -> bytes | None:
    """Return the stored evidence.zip of a shrunk run, or None if the run was not shrunk."""
    with asking(database) as session:
        held = tidy.kept(session, run)
    return _unpressed(run, held) if held else None


def _unpressed(run: str, held: bytes) -> bytes:
    try:
        return gzip.decompress(held)
    except (OSError, EOFError, zlib.error) as exc:
        raise Unusable(f"the evidence of run {run} cannot be read: {exc}. Restore the database from a backup.") from exc


def shrink(database: Engine, run: str, signer: Signer, who: str, now: float) -> Shrunk | None:
    """Shrink a run; return None if another process is doing so. The pack is verified and stored before deletion."""
    held, told = _pressed(checked(EventStore(database).events(run), signer))
    if _digest(held) != told:
        raise Unusable(f"run {run} stays whole: its evidence did not come back as it was packed. Check this machine.")
    audit.note(database, _said(run, who, told))
    with Session(database) as session, session.begin():
        if not tidy.keep(session, run, held, now):
            return None
    return Shrunk(run, tidy.sweep(database, run), len(held))


def _pressed(files: Files) -> tuple[bytes, str]:
    """Return the compressed pack and the sha256 of the uncompressed one."""
    into, told = io.BytesIO(), hashlib.sha256()
    with gzip.GzipFile(fileobj=into, mode="wb", mtime=0) as pressing:
        for _, chunk in chunks(files):
            pressing.write(chunk)
            told.update(chunk)
    return into.getvalue(), told.hexdigest()


def _digest(held: bytes) -> str:
    """Return the sha256 of the decompressed pack, or the error if it cannot be decompressed."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(held)) as pack:
            return hashlib.file_digest(pack, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error) as exc:
        return str(exc)


def _said(run: str, who: str, told: str) -> PersonDid:
    detail = f"{FILE} sha256 {told}"
    did = f"tidy: shrink run {run} to its evidence"
    return PersonDid(who=who, right="admin", via="terminal", source="", did=did, status=0, detail=detail)


def agrees(archive: bytes, rows: Iterable[tuple[int, bytes, str]]) -> Files:
    """Return the pack's files if the log equals the pack's except for missing turn deltas; else raise BrokenPack."""
    files, left = unpack(archive), iter(rows)
    row = next(left, None)
    for one in chain(files):
        if row and row[0] == one[0]:
            if row != one:
                break
            row = next(left, None)
        elif json.loads(one[1])["kind"] != "turn.delta":
            raise BrokenPack(f"event {one[0]} is missing, and it is no piece of a turn")
    if row:
        raise BrokenPack(f"event {row[0]} of the log is not the one that the evidence has")
    return files
