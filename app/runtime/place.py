"""The name of a data folder, which is the same for all nodes that share it."""

import secrets
from contextlib import suppress
from pathlib import Path


def place(data: Path) -> str:
    file = data / "place"
    if not file.exists():
        new = data / f".place.{secrets.token_hex(8)}"
        new.write_text(secrets.token_hex(8))
        with suppress(FileExistsError):  # of two that come at once, one is first
            file.hardlink_to(new)
        new.unlink()
    return file.read_text()
