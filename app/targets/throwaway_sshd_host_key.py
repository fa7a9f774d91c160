"""A throwaway host key for sshd, which needs one to check a configuration."""

import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

HOST_KEY = "/check/hostkey"
_SECONDS = 10


def get_sshd_check_key() -> str:
    """Return this process's private key for checks, or an empty string if ssh-keygen does not work here."""
    with suppress(FileNotFoundError, subprocess.TimeoutExpired):
        return _make_sshd_check_key_text()
    return ""


@cache
def _make_sshd_check_key_text() -> str:
    """Make the key once. A program that is missing or too slow is not remembered."""
    with tempfile.TemporaryDirectory(prefix="temper-hostkey-") as folder:
        at = Path(folder) / "key"
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(at)]
        subprocess.run(make, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL, capture_output=True)
        return at.read_text() if at.exists() else ""
