"""Passwords, kept as scrypt digests, and secrets that are only ever kept as digests."""

import hashlib
import secrets

SHORTEST = 12
_COST, _BLOCK, _LANES, _LENGTH = 2**14, 8, 1, 32


def hashed(password: str) -> str:
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_digest(password, salt).hex()}"


def matches(password: str, kept: str) -> bool:
    _, salt, digest = kept.split("$")
    return secrets.compare_digest(_digest(password, bytes.fromhex(salt)), bytes.fromhex(digest))


NOBODY = f"scrypt${'00' * 16}${'00' * _LENGTH}"
"""Checked where no such person is, so that an answer takes as long."""


def new_secret() -> str:
    return "temper_" + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Of a secret with 256 bits of its own: it needs no salt and no slowness."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_LANES, dklen=_LENGTH, maxmem=64 * 1024 * 1024
    )
