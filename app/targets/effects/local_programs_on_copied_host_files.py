"""Runs a program of this machine on a host's files, laid out in an empty folder inside a sandbox."""

import os
import tempfile
from pathlib import Path

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Ask, Query
from app.targets.program_sandbox import Confinement, ProgramOutcome, identify_build
from app.targets.read_tracking_cache import ReadTrackingCache

_MEMORY = Path("/dev/shm")  # noqa: S108 (made in it with a name of its own, and for its owner alone)
_ROOM = 32 << 20


def create_local_asker(confinement: Confinement, read_cache: ReadTrackingCache | None = None) -> Ask:
    """Return an asker that runs local programs. `read_cache` caches answers for the host's files."""
    known = read_cache or ReadTrackingCache()

    def ask_local(files: Files, question: Query) -> ProgramOutcome | None:
        if confinement.kind == "none" or not (build := identify_build(question.program)):
            return None

        def run_program(files: Files) -> ProgramOutcome:
            with tempfile.TemporaryDirectory(prefix="temper-ask-", dir=_find_memory_folder()) as folder:
                root = Path(folder)
                write_staged_files(root, files, question)
                return confinement.run(root, [question.program, *question.arguments])

        return known.get_or_compute(
            (question, build), files, run_program, is_cacheable=lambda outcome: outcome.code is not None
        )

    return ask_local


def _find_memory_folder() -> Path | None:
    """Return /dev/shm if it is writable and has room, so that no file reaches a disk; None otherwise."""
    try:
        room = os.statvfs(_MEMORY)
    except OSError:
        return None
    free = room.f_bavail * room.f_frsize
    return _MEMORY if free >= _ROOM and os.access(_MEMORY, os.W_OK | os.X_OK) else None


def write_staged_files(root: Path, files: Files, query: Query) -> None:
    for path in (path for pattern in query.staged for path in files.glob(pattern)):
        state, content = files.state(path), files.read(path)
        if state is not None and content is not None:
            _write_staged_file(root, path, content, state.mode | 0o400)
    for path, text in query.made:
        _write_staged_file(root, path, host_text.encode_text(text), 0o600)


def _write_staged_file(root: Path, path: str, content: bytes, mode: int) -> None:
    at = root / path[1:]
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(content)
    at.chmod(mode)
