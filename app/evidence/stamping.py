"""Requests RFC 3161 time stamps from the authority that the operator configured."""

import secrets
from functools import partial
from pathlib import Path

import httpx

from app.errors import Unusable
from app.evidence.asked_once import asked_once
from app.evidence.verify import digest, stamped

FOLDER = "stamps"
PATIENCE = 10.0
LARGEST = 64 * 1024
_SHA256 = bytes.fromhex("300d06096086480165030402010500")


def stamp(folder: Path, authority: str, manifest: bytes) -> bytes | None:
    """Return the stored stamp, or request one; None if there is none and no authority is set."""
    ask = partial(_asked, authority, manifest) if authority else None
    return asked_once(folder / f"{digest(manifest)}.tsr", "time stamp", ask)


def query(imprint: bytes, nonce: bytes) -> bytes:
    """Encode a request for this hash and nonce that asks for the certificates as well."""
    hashed = _der(0x30, _SHA256 + _der(4, imprint))
    return _der(0x30, b"".join((_der(2, b"\1"), hashed, _der(2, b"\1" + nonce), _der(1, b"\xff"))))


def _der(tag: int, content: bytes) -> bytes:
    """Encode a DER element; `content` must be shorter than 128 bytes."""
    return bytes((tag, len(content))) + content


def _asked(authority: str, manifest: bytes) -> bytes:
    content = query(bytes.fromhex(digest(manifest)), secrets.token_bytes(8))
    kind = {"content-type": "application/timestamp-query"}
    try:
        answer = httpx.post(authority, content=content, headers=kind, timeout=PATIENCE, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise Unusable(f"{authority} gave no time stamp: {exc or type(exc).__name__}.") from exc
    if not answer.is_success or len(answer.content) > LARGEST:
        raise Unusable(f"{authority} gave no time stamp: it answered {answer.status_code}.")
    try:
        stamped(answer.content, manifest)
    except (ValueError, IndexError) as exc:
        raise Unusable(f"{authority} gave no time stamp of this pack: {exc}.") from exc
    return answer.content
