"""A run that was shrunk to its evidence: its pack, kept beside the log, and the two held against each other."""

import gzip
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import Unusable
from app.events.kinds import PersonDid
from app.evidence.pack import FILE, pack
from app.evidence.verify import Broken, Files, digest, unpack
from app.store import audit, tidy
from app.store.events import EventStore


@dataclass(frozen=True)
class Shrunk:
    run: str
    gone: int
    """Events that the log no longer holds."""
    kept: int
    """Bytes of the pack."""


def evidence(database: Engine, run: str) -> bytes:
    """The run's evidence.zip: the same bytes before it was shrunk and after."""
    with Session(database) as session:
        held = tidy.kept(session, run)
    return _unpressed(run, held) if held else pack(EventStore(database).events(run))


def _unpressed(run: str, held: bytes) -> bytes:
    try:
        return gzip.decompress(held)
    except (OSError, EOFError, zlib.error) as exc:
        raise Unusable(f"the evidence of run {run} cannot be read: {exc}. Restore the database from a backup.") from exc


def shrink(database: Engine, run: str, who: str, now: float) -> Shrunk | None:
    """None where another process is at it. The pack is checked before it is kept, and kept before anything goes."""
    archive = pack(EventStore(database).events(run))
    held = gzip.compress(archive, mtime=0)
    if _unpressed(run, held) != archive:
        raise Unusable(f"run {run} stays whole: its evidence did not come back as it was packed. Check this machine.")
    audit.note(database, _said(run, who, archive))
    with Session(database) as session, session.begin():
        if not tidy.keep(session, run, held, now):
            return None
    return Shrunk(run, tidy.sweep(database, run), len(held))


def _said(run: str, who: str, archive: bytes) -> PersonDid:
    detail = f"{FILE} sha256 {digest(archive)}"
    did = f"tidy: shrink run {run} to its evidence"
    return PersonDid(who=who, right="admin", via="terminal", source="", did=did, status=0, detail=detail)


def agrees(archive: bytes, rows: Iterable[tuple[int, bytes, str]]) -> Files:
    """The pack's files, when every line that the log still has is the pack's, and what it lacks is pieces of turns."""
    files = unpack(archive)
    lines, hashes = files["events.jsonl"].splitlines(), files["chain.txt"].decode().split()
    there = set()
    for seq, line, told in rows:
        if not 1 <= seq <= len(lines) or lines[seq - 1] != line or hashes[seq - 1] != told:
            raise Broken(f"event {seq} of the log is not the one that the evidence has")
        there.add(seq)
    for seq, line in enumerate(lines, 1):
        if seq not in there and json.loads(line)["kind"] != "turn.delta":
            raise Broken(f"event {seq} is missing, and it is no piece of a turn")
    return files
