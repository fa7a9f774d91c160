"""What a command makes, into the place that was asked for."""

import sys
from pathlib import Path

from rich.console import Console

from app.errors import BadInput


def written(content: bytes, out: str, usual: str) -> None:
    """`out` as somebody gave it; where that is nothing, a file of the usual name in this folder."""
    if out == "-":
        sys.stdout.buffer.write(content)
        return
    path = Path(out or usual)
    try:
        path.write_bytes(content)
    except OSError as exc:
        raise BadInput(f"{path} cannot be written: {exc.strerror}. Choose another place with --out.") from exc
    Console().print(f"{path}, {len(content)} bytes", highlight=False, soft_wrap=True, markup=False)
