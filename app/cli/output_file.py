"""Write a command's output to a file or stdout."""

import sys
from collections.abc import Iterable
from pathlib import Path

from app.errors import BadInput

STDOUT = "-"


def write_output(pieces: Iterable[bytes], out: str, usual: str) -> None:
    """Write `pieces` to the file `out`, to stdout for `-`, or to the file `usual` if `out` is empty."""
    if out == STDOUT:
        sys.stdout.buffer.writelines(pieces)
        return
    path = Path(out or usual)
    try:
        with path.open("wb") as file:
            length = sum(map(file.write, pieces))
    except OSError as exc:
        raise BadInput(f"{path} cannot be written: {exc.strerror}. Choose another place with --out.") from exc
    print(f"{path}, {length} bytes")  # noqa: T201
