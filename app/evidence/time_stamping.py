"""Requests RFC 3161 time stamps from the authority that the operator configured."""

import secrets
import shutil
import subprocess
import tempfile
from datetime import datetime
from functools import partial
from pathlib import Path

import httpx

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.stored_external_answer import read_or_fetch_once
from app.evidence.verify import STAMP, BrokenPack, Files, compute_sha256, read_stamp_time

FOLDER = "stamps"
PATIENCE = 10.0
LARGEST = 64 * 1024
_SHA256 = bytes.fromhex("300d06096086480165030402010500")


def find_or_request_stamp(folder: Path, authority_or_empty: str, manifest: bytes) -> bytes | None:
    """Return the stored stamp, or request one; None if there is none and no authority is set."""
    ask = partial(_request_stamp, authority_or_empty, manifest) if authority_or_empty else None
    return read_or_fetch_once(folder / f"{compute_sha256(manifest)}.tsr", "time stamp", ask)


def build_stamp_query(imprint: bytes, nonce: bytes) -> bytes:
    """Encode a request for this hash and nonce that asks for the certificates as well."""
    hashed = _encode_der(0x30, _SHA256 + _encode_der(4, imprint))
    fields = (_encode_der(2, b"\1"), hashed, _encode_der(2, b"\1" + nonce), _encode_der(1, b"\xff"))
    return _encode_der(0x30, b"".join(fields))


def _encode_der(tag: int, content: bytes) -> bytes:
    """Encode a DER element; `content` must be shorter than 128 bytes."""
    return bytes((tag, len(content))) + content


def _request_stamp(authority: str, manifest: bytes) -> bytes:
    content = build_stamp_query(bytes.fromhex(compute_sha256(manifest)), secrets.token_bytes(8))
    kind = {"content-type": "application/timestamp-query"}
    try:
        answer = httpx.post(authority, content=content, headers=kind, timeout=PATIENCE, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise EnvironmentUnusable(f"{authority} returned no time stamp: {exc or type(exc).__name__}.") from exc
    if not answer.is_success or len(answer.content) > LARGEST:
        raise EnvironmentUnusable(f"{authority} returned no time stamp: its status was {answer.status_code}.")
    try:
        read_stamp_time(answer.content, manifest)
    except (ValueError, IndexError) as exc:
        raise EnvironmentUnusable(f"{authority} returned no valid time stamp for this pack: {exc}.") from exc
    return answer.content


CHECK_PATIENCE = 30.0


def check_and_describe_stamp(files: Files, ca_file: Path) -> str:
    """Return a sentence on the stamp, or raise BrokenPack. Certificates must have been valid at the stamp's time."""
    if STAMP not in files:
        raise BrokenPack("it has no time stamp that --ca could be held against")
    if not ca_file.is_file():
        raise BadInput(f"--ca: there is no file {ca_file}: name the authority's certificate, in PEM.")
    if (openssl := shutil.which("openssl")) is None:
        raise BadInput("--ca needs openssl, which is not installed: apt-get install openssl.")
    at = read_stamp_time(files[STAMP], files["manifest.json"])
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for name in ("manifest.json", STAMP):
            (there / name).write_bytes(files[name])
        words = ["ts", "-verify", "-data", "manifest.json", "-in", STAMP, "-CAfile", str(ca_file.absolute())]
        words += ["-attime", str(int(datetime.fromisoformat(at).timestamp()))]
        try:
            done = subprocess.run(
                [openssl, *words], cwd=there, capture_output=True, timeout=CHECK_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as exc:
            raise EnvironmentUnusable(
                f"openssl did not end within {CHECK_PATIENCE:g} s, so the time stamp is not checked: try again."
            ) from exc
    if done.returncode or b"Verification: OK" not in done.stdout + done.stderr:
        raise BrokenPack(f"the time stamp is not signed by an authority of {ca_file.name}, says openssl")
    return f"openssl says that the stamp is signed by an authority of {ca_file.name}, valid at {at}"
