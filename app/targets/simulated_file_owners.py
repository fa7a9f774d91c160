"""File owners of a simulated host, kept in a table because all its files belong to this process."""

from pathlib import Path

import msgspec

from app.errors import RollbackFailed
from app.targets.crash_safe_writes import Disk

ROOT = "root:root"


class FileOwners:
    """Owners by path; root by default. Callers hold the tree's lock and reload before they read."""

    def __init__(self, file: Path, disk: Disk) -> None:
        self._file = file
        self._disk = disk
        self._seen: tuple[int, int, int] | None = None
        self._table: dict[str, str] = {}

    def get_owner(self, path: str) -> str:
        return self._table.get(path, ROOT)

    def set_owner(self, path: str, owner: str) -> None:
        table = {name: held for name, held in self._table.items() if name != path}
        if owner != ROOT:
            table[path] = owner
        if table != self._table:
            self._disk.write_private_file(self._file, encode_owners(table))
            self.reload_if_changed()

    def reload_if_changed(self) -> None:
        try:
            found = self._file.stat()
        except FileNotFoundError:
            self._table, self._seen = {}, None
            return
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if stamp != self._seen:
            self._table, self._seen = _read_existing_owners(self._file), stamp


def encode_owners(table: dict[str, str]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(table, order="sorted"), indent=1)


def _read_existing_owners(file: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except msgspec.DecodeError as exc:
        raise RollbackFailed(f"The owner table {file} cannot be read ({exc}). Prepare the host anew.") from exc
