"""Fetches an external answer about a pack once and keeps it in a file."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.errors import EnvironmentUnusable


def read_or_fetch_once(file: Path, answer_name: str, ask: Callable[[], bytes] | None) -> bytes | None:
    """Return the stored answer, else request one with `ask` and store it; None if `ask` is None.

    Of two that request one at the same time, both return the one that was stored first. Raise EnvironmentUnusable if
    the file cannot be read or written.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    except OSError as exc:
        raise EnvironmentUnusable(f"the {answer_name} {file} cannot be read: {exc.strerror}.") from exc
    if ask is None:
        return None
    got = ask()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".") as new:
            new.write(got)
            new.flush()
            with suppress(FileExistsError):
                os.link(new.name, file)
    except OSError as exc:
        raise EnvironmentUnusable(f"the {answer_name} {file} cannot be written: {exc.strerror}.") from exc
    return file.read_bytes()
