"""Collects the files of an archive on disk, so that only one file at a time is in memory."""

import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.evidence.verify import Object, build_zip_headers_directory_and_end, compute_sha256

_PIECE = 256 * 1024


@dataclass(frozen=True)
class _SpooledFile:
    at: int
    size: int
    sha256: str
    crc: int


class Spool:
    """Uses an unnamed temporary file, which disappears with the process."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  pieces or close ends it
        self._laid: dict[str, _SpooledFile] = {}
        self.held = 0
        """Total bytes of its files."""

    def add(self, name: str, content: bytes) -> None:
        self._laid[name] = _SpooledFile(self.held, len(content), compute_sha256(content), zlib.crc32(content))
        self._file.write(content)
        self.held += len(content)

    def close(self) -> None:
        self._file.close()

    @property
    def manifest_entries(self) -> list[Object]:
        return [{"name": name, "size": laid.size, "sha256": laid.sha256} for name, laid in sorted(self._laid.items())]

    def get_sha256(self, name: str) -> str:
        return self._laid[name].sha256

    @property
    def archive_size(self) -> int:
        """Bytes of the archive."""
        heads, end = self._build_zip_headers_and_end()
        return self.held + sum(map(len, (*heads, *end)))

    def stream_archive_and_close(self) -> Iterator[bytes]:
        """Yield the archive's bytes and close the spool."""
        heads, end = self._build_zip_headers_and_end()
        with self._file:
            for head, (_, laid) in zip(heads, sorted(self._laid.items()), strict=True):
                yield head
                self._file.seek(laid.at)
                for left in range(laid.size, 0, -_PIECE):
                    yield self._file.read(min(left, _PIECE))
        yield b"".join(end)

    def _build_zip_headers_and_end(self) -> tuple[list[bytes], list[bytes]]:
        files = [(name, laid.size, laid.crc) for name, laid in sorted(self._laid.items())]
        heads, end = build_zip_headers_directory_and_end(files, self.get_sha256("manifest.json"))
        return heads, [chunk for _, chunk in end]
