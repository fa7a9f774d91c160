"""The Ed25519 signing key. Its private half is stored in the data folder and never shown."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.verify import verify_ed25519
from app.private_files import write_new_private_file

_FILE, _CHANGES = "signing.key", "signing.changes"


class Signer(Protocol):
    @property
    def public(self) -> str: ...
    def sign(self, content: bytes) -> str: ...
    def list_key_changes_since(self, named_key: str) -> list[dict[str, str]]:
        """Return the changes of the key that lead from `named_key` to this key; empty if none do."""


@dataclass(frozen=True)
class SigningKey:
    public: str
    """64 hexadecimal digits, for others to pin."""
    _private: Ed25519PrivateKey = field(repr=False)
    changes: tuple[tuple[str, str, str], ...] = ()
    """Earlier changes: the old key, the new one, and the old one's signature."""

    def sign(self, content: bytes) -> str:
        """Return the signature in hexadecimal digits. Equal input gives an equal signature."""
        return self._private.sign(content).hex()

    def list_key_changes_since(self, named_key: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        last = self.public
        # Newest first, so that changes which a crash undid are skipped.
        for old, new, signature in reversed(self.changes):
            if new == last != named_key:
                found.insert(0, {"key": new, "signature": signature})
                last = old
        return found if last == named_key else []


def is_valid_signature(public: str, signature: str, content: bytes) -> bool:
    try:
        return verify_ed25519(bytes.fromhex(public), bytes.fromhex(signature), content)
    except ValueError:
        return False


def find_key(folder: Path) -> SigningKey | None:
    """Return the key in `folder`, or None if there is none; raise EnvironmentUnusable if it cannot be read."""
    file = folder / _FILE
    try:
        return replace(
            derive_key(bytes.fromhex(file.read_text("ascii").strip())),
            changes=_read_old_new_keys_and_signatures(folder),
        )
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise EnvironmentUnusable(
            f"the key {file} cannot be read: {exc.strerror}. Run as the account that owns it."
        ) from exc
    except ValueError as exc:
        raise EnvironmentUnusable(
            f"{file} is not a Temper key: restore it from a backup, or move it away to get a new key."
        ) from exc


def create_key_if_missing(folder: Path) -> SigningKey:
    """Create a key and return the one in place; of two concurrent processes, the first wins."""
    with _explain_uncreated_key(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = _write_new_key_to_temporary_file(folder)
    try:
        with _explain_uncreated_key(folder), suppress(FileExistsError):
            os.link(new, folder / _FILE)
    finally:
        new.unlink()
    found = find_key(folder)
    assert found
    return found


def create_next_key_and_file(folder: Path) -> tuple[SigningKey, Path]:
    """Create a key in a temporary file. It becomes current when `replace_key` moves that file into place."""
    new = _write_new_key_to_temporary_file(folder)
    return derive_key(bytes.fromhex(new.read_text("ascii").strip())), new


def replace_key(folder: Path, new_key_file: Path, change: tuple[str, str, str]) -> None:
    """Make `new_key_file` the current key, and keep the signed change. This destroys the old private half."""
    kept = "".join(" ".join(one) + "\n" for one in (*_read_old_new_keys_and_signatures(folder), change))
    whole = folder / f".{_CHANGES}"
    whole.write_text(kept, "ascii")
    whole.replace(folder / _CHANGES)
    new_key_file.replace(folder / _FILE)
    _sync_folder(folder)


def read_public_key(key_or_path: str) -> str:
    """Parse a public key, given as hexadecimal digits or as a file that holds them."""
    path = Path(key_or_path)
    try:
        text = path.read_text("ascii", "replace")[:200] if len(key_or_path) != 64 and path.is_file() else key_or_path
    except OSError as exc:
        raise BadInput(f"{key_or_path[:80]!a} cannot be read: {exc.strerror}.") from exc
    key = text.strip().lower()
    if len(key) != 64 or set(key) - set("0123456789abcdef"):
        raise BadInput(
            f"{key_or_path[:80]!a} is not a public key: give the 64 hexadecimal digits that `temper key` prints."
        )
    return key


def _read_old_new_keys_and_signatures(folder: Path) -> tuple[tuple[str, str, str], ...]:
    """Return the changes of the key, oldest first."""
    try:
        lines = (folder / _CHANGES).read_text("ascii").splitlines()
    except FileNotFoundError:
        return ()
    return tuple((old, new, signature) for old, new, signature in map(str.split, lines))


def _write_new_key_to_temporary_file(folder: Path) -> Path:
    file = folder / f".{_FILE}.{secrets.token_hex(8)}"
    with _explain_uncreated_key(folder):
        write_new_private_file(file, f"{secrets.token_bytes(32).hex()}\n".encode())
    return file


@contextmanager
def _explain_uncreated_key(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise EnvironmentUnusable(
            f"cannot create a key in {folder}: {exc.strerror}. Choose a writable folder with --data."
        ) from exc


def derive_key(seed: bytes) -> SigningKey:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return SigningKey(private.public_key().public_bytes_raw().hex(), private)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
