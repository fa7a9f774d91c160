"""Bounded reads of untrusted files."""

from pathlib import Path


def read_bounded(path: Path, most: int) -> bytes:
    """Read at most `most` bytes plus one: the extra byte tells the caller that the file is too large."""
    with path.open("rb") as file:
        return file.read(most + 1)
