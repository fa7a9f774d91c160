"""Read or create the data folder's id, which all nodes that share it see."""

import secrets
from contextlib import suppress
from pathlib import Path


def read_data_folder_id(data: Path) -> str:
    file = data / "place"
    if not file.exists():
        new = data / f".place.{secrets.token_hex(8)}"
        new.write_text(secrets.token_hex(8))
        with suppress(FileExistsError):  # another process may create it at the same time
            file.hardlink_to(new)
        new.unlink()
    return file.read_text()
