"""sha256 digests over a file's content, mode and owner."""

import hashlib

from app.events.vocabulary import FileChange
from app.syntax.files import FileState


def compute_file_digest(state: FileState | None) -> str | None:
    if state is None:
        return None
    return hashlib.sha256(f"{state.mode:04o} {state.owner}\n".encode() + state.content).hexdigest()


def build_file_change(path: str, before: FileState | None, after: FileState | None) -> FileChange:
    return FileChange(path, compute_file_digest(before), compute_file_digest(after))
