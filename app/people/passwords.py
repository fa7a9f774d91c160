"""Passwords, kept as argon2id digests, and secrets that are only ever kept as digests."""

import hashlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from app.errors import Unusable

SHORTEST, LONGEST_PASSWORD = 12, 200
AT_ONCE, WAITING = 2, 6
"""Each that is worked on takes 64 MiB; who comes while so many wait is asked to come again."""
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)
_SCRYPT = "scrypt$"
_COST, _BLOCK, _LANES, _LENGTH = 2**14, 8, 1, 32
NOBODY = "$argon2id$v=19$m=65536,t=3,p=1$dGVtcGVyIG5vYm9keSEhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""Checked where no such person is, so that an answer takes as long."""


class PasswordsBusy(Unusable):
    """So many passwords are being checked that another would only take memory."""


class Turns:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._working = threading.BoundedSemaphore(at_once)
        self._places = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise PasswordsBusy("Many people are signing in just now: try again in a moment.")
        try:
            with self._working:
                yield
        finally:
            self._places.release()


_TURNS = Turns(AT_ONCE, WAITING)


def hashed(password: str) -> str:
    """With its parameters, so that they can grow."""
    with _TURNS.turn():
        return _HASHER.hash(password)


def matches(password: str, kept: str) -> bool:
    """One argon2 in any case: how long it takes does not tell a name that is known from one that is not."""
    with _TURNS.turn():
        if not kept.startswith(_SCRYPT):
            return _verified(password, kept)
        _verified(password, NOBODY)
        _, salt, digest = kept.split("$")
        return secrets.compare_digest(_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def outdated(kept: str) -> bool:
    """Whether a password that has just been given is to be hashed anew."""
    return kept.startswith(_SCRYPT) or _HASHER.check_needs_rehash(kept)


def new_secret() -> str:
    return "temper_" + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Of a secret with 256 bits of its own: it needs no salt and no slowness."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _verified(password: str, kept: str) -> bool:
    try:
        return _HASHER.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


def _scrypt(password: str, salt: bytes) -> bytes:
    """As passwords were kept before argon2."""
    return hashlib.scrypt(
        password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_LANES, dklen=_LENGTH, maxmem=64 * 1024 * 1024
    )
