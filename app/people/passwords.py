"""Hash and check passwords with argon2id, and create and digest secrets."""

import hashlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from app.errors import EnvironmentUnusable

SHORTEST, LONGEST_PASSWORD = 12, 200
AT_ONCE, WAITING = 2, 6
"""Concurrent hashes, 64 MiB each, and the number of callers that may wait; more get PasswordsBusy."""
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)
_SCRYPT = "scrypt$"
_COST, _BLOCK, _LANES, _LENGTH = 2**14, 8, 1, 32
NOBODY = "$argon2id$v=19$m=65536,t=3,p=1$dGVtcGVyIG5vYm9keSEhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""Digest checked for unknown people, so that the response takes the same time."""


class PasswordsBusy(EnvironmentUnusable):
    """Too many passwords are being checked; another would only take memory."""


class HashingLimiter:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._working = threading.BoundedSemaphore(at_once)
        self._places = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def acquire_slot(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise PasswordsBusy("Many people are signing in just now: try again in a moment.")
        try:
            with self._working:
                yield
        finally:
            self._places.release()


_LIMITER = HashingLimiter(AT_ONCE, WAITING)


def hash_password(password: str) -> str:
    """Return the argon2id digest with its parameters. Raise PasswordsBusy if too many callers wait."""
    with _LIMITER.acquire_slot():
        return _HASHER.hash(password)


def matches_digest(password: str, stored_digest: str) -> bool:
    """Return True if the password matches. Always run one argon2, so that timing reveals no known names."""
    with _LIMITER.acquire_slot():
        if not stored_digest.startswith(_SCRYPT):
            return _verify_argon2(password, stored_digest)
        _verify_argon2(password, NOBODY)
        _, salt, digest = stored_digest.split("$")
        return secrets.compare_digest(_compute_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def needs_rehash(stored_digest: str) -> bool:
    """Return True if the digest uses old parameters or scrypt."""
    return stored_digest.startswith(_SCRYPT) or _HASHER.check_needs_rehash(stored_digest)


def create_secret() -> str:
    return "temper_" + secrets.token_urlsafe(32)


def digest_random_secret_unsalted(random_secret: str) -> str:
    """Return the SHA-256 of a 256-bit secret, which needs no salt or slow hash."""
    return hashlib.sha256(random_secret.encode()).hexdigest()


def _verify_argon2(password: str, stored_digest: str) -> bool:
    try:
        return _HASHER.verify(stored_digest, password)
    except (VerificationError, InvalidHashError):
        return False


def _compute_scrypt(password: str, salt: bytes) -> bytes:
    """Compute the scrypt digest that was used before argon2."""
    return hashlib.scrypt(
        password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_LANES, dklen=_LENGTH, maxmem=64 * 1024 * 1024
    )
