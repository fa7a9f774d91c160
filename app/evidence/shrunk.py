"""A run that was shrunk to its evidence: its pack, kept beside the log, and the two held against each other."""

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
    """Events that the log no longer holds."""
    kept: int
    """Bytes of the pack."""


def evidence(database: Engine, run: str, signer: Signer) -> bytes:
    """The run's evidence.zip: the same bytes before it was shrunk and after, as long as the key is the same."""
    return kept(database, run) or pack(EventStore(database).events(run), signer)


def kept(database: Engine, run: str) -> bytes | None:
    """The evidence.zip of a run that was shrunk; None where it is whole."""
    with asking(database) as session:
        held = tidy.kept(session, run)
    return _unpressed(run, held) if held else None


def _unpressed(run: str, held: bytes) -> bytes:
    try:
        return gzip.decompress(held)
    except (OSError, EOFError, zlib.error) as exc:
        raise Unusable(f"the evidence of run {run} cannot be read: {exc}. Restore the database from a backup.") from exc


def shrink(database: Engine, run: str, signer: Signer, who: str, now: float) -> Shrunk | None:
    """None where another process is at it. The pack is checked before it is kept, and kept before anything goes."""
    held, told = _pressed(checked(EventStore(database).events(run), signer))
    if _digest(held) != told:
        raise Unusable(f"run {run} stays whole: its evidence did not come back as it was packed. Check this machine.")
    audit.note(database, _said(run, who, told))
    with Session(database) as session, session.begin():
        if not tidy.keep(session, run, held, now):
            return None
    return Shrunk(run, tidy.sweep(database, run), len(held))


def _pressed(files: Files) -> tuple[bytes, str]:
    """The pack, compressed as it is put together, and its sha256."""
    into, told = io.BytesIO(), hashlib.sha256()
    with gzip.GzipFile(fileobj=into, mode="wb", mtime=0) as pressing:
        for _, chunk in chunks(files):
            pressing.write(chunk)
            told.update(chunk)
    return into.getvalue(), told.hexdigest()


def _digest(held: bytes) -> str:
    """Of the pack as it comes back, or why it does not."""
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
    """The pack's files, when every line that the log still has is the pack's, and what it lacks is pieces of turns."""
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
