"""Verifies a time stamp's signature with openssl and a certificate that the operator trusts."""

import shutil
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

from app.errors import BadInput
from app.evidence.verify import STAMP, BrokenPack, Files, read_stamp_time

CHECK_PATIENCE = 30.0


def check_stamp(files: Files, authority: Path) -> str:
    """Return a sentence on the stamp, or raise BrokenPack. Certificates must have been valid at the stamp's time."""
    if STAMP not in files:
        raise BrokenPack("it has no time stamp that --ca could be held against")
    if not authority.is_file():
        raise BadInput(f"--ca: there is no file {authority}: name the authority's certificate, in PEM.")
    if (openssl := shutil.which("openssl")) is None:
        raise BadInput("--ca takes the program openssl, which is not installed here.")
    at = read_stamp_time(files[STAMP], files["manifest.json"])
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for name in ("manifest.json", STAMP):
            (there / name).write_bytes(files[name])
        words = ["ts", "-verify", "-data", "manifest.json", "-in", STAMP, "-CAfile", str(authority.absolute())]
        words += ["-attime", str(int(datetime.fromisoformat(at).timestamp()))]
        done = subprocess.run([openssl, *words], cwd=there, capture_output=True, timeout=CHECK_PATIENCE, check=False)
    if done.returncode or b"Verification: OK" not in done.stdout + done.stderr:
        raise BrokenPack(f"the time stamp is not signed by an authority of {authority.name}, says openssl")
    return f"openssl says that the stamp is signed by an authority of {authority.name}, valid at {at}"
