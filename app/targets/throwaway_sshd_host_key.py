"""A throwaway host key for sshd, which needs one to check a configuration."""

import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

HOST_KEY = "/check/hostkey"
_SECONDS = 10


@cache
def get_sshd_check_key() -> str:
    """Return a new private key, or an empty string if ssh-keygen does not work here."""
    with tempfile.TemporaryDirectory(prefix="temper-hostkey-") as folder:
        at = Path(folder) / "key"
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(at)]
        with suppress(FileNotFoundError, subprocess.TimeoutExpired):
            subprocess.run(make, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL, capture_output=True)
        return at.read_text() if at.exists() else ""
