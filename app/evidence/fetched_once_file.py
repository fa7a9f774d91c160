"""Fetches an external answer about a pack once and keeps it in a file."""

import secrets
from collections.abc import Callable
from pathlib import Path

from app.errors import EnvironmentUnusable


def read_or_fetch_once(file: Path, answer_name: str, ask: Callable[[], bytes] | None) -> bytes | None:
    """Return the stored answer, else request one with `ask` and store it; None if `ask` is None."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    except OSError as exc:
        raise EnvironmentUnusable(f"the {answer_name} {file} cannot be read: {exc.strerror}.") from exc
    if ask is None:
        return None
    got = ask()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.parent / f".{secrets.token_hex(8)}"
    new.write_bytes(got)
    new.replace(file)
    return got
