"""Requests RFC 3161 time stamps from the authority that the operator configured."""

import secrets
from functools import partial
from pathlib import Path

import httpx

from app.errors import EnvironmentUnusable
from app.evidence.asked_once import fetch_once
from app.evidence.verify import compute_sha256, read_stamp_time

FOLDER = "stamps"
PATIENCE = 10.0
LARGEST = 64 * 1024
_SHA256 = bytes.fromhex("300d06096086480165030402010500")


def get_stamp(folder: Path, authority: str, manifest: bytes) -> bytes | None:
    """Return the stored stamp, or request one; None if there is none and no authority is set."""
    ask = partial(_request_stamp, authority, manifest) if authority else None
    return fetch_once(folder / f"{compute_sha256(manifest)}.tsr", "time stamp", ask)


def build_stamp_query(imprint: bytes, nonce: bytes) -> bytes:
    """Encode a request for this hash and nonce that asks for the certificates as well."""
    hashed = _encode_der(0x30, _SHA256 + _encode_der(4, imprint))
    return _encode_der(
        0x30, b"".join((_encode_der(2, b"\1"), hashed, _encode_der(2, b"\1" + nonce), _encode_der(1, b"\xff")))
    )


def _encode_der(tag: int, content: bytes) -> bytes:
    """Encode a DER element; `content` must be shorter than 128 bytes."""
    return bytes((tag, len(content))) + content


def _request_stamp(authority: str, manifest: bytes) -> bytes:
    content = build_stamp_query(bytes.fromhex(compute_sha256(manifest)), secrets.token_bytes(8))
    kind = {"content-type": "application/timestamp-query"}
    try:
        answer = httpx.post(authority, content=content, headers=kind, timeout=PATIENCE, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise EnvironmentUnusable(f"{authority} gave no time stamp: {exc or type(exc).__name__}.") from exc
    if not answer.is_success or len(answer.content) > LARGEST:
        raise EnvironmentUnusable(f"{authority} gave no time stamp: it answered {answer.status_code}.")
    try:
        read_stamp_time(answer.content, manifest)
    except (ValueError, IndexError) as exc:
        raise EnvironmentUnusable(f"{authority} gave no time stamp of this pack: {exc}.") from exc
    return answer.content
