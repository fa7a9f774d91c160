"""What a command made, where it was asked for."""

import sys
from pathlib import Path

from app.errors import BadInput

STDOUT = "-"


def write_out(content: bytes, out: str, usual: str) -> None:
    """Into `out`, or a file with the usual name here."""
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        return
    path = Path(out or usual)
    try:
        path.write_bytes(content)
    except OSError as exc:
        raise BadInput(f"{path} cannot be written: {exc.strerror}. Choose another place with --out.") from exc
    print(f"{path}, {len(content)} bytes")  # noqa: T201
