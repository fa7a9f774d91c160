"""What somebody else says of a pack is asked for once, and then kept."""

import secrets
from collections.abc import Callable
from pathlib import Path

from app.errors import Unusable


def asked_once(file: Path, what: str, ask: Callable[[], bytes] | None) -> bytes | None:
    """What was kept, or what is said now; None where there is neither."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    except OSError as exc:
        raise Unusable(f"the {what} {file} cannot be read: {exc.strerror}.") from exc
    if ask is None:
        return None
    got = ask()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.parent / f".{secrets.token_hex(8)}"
    new.write_bytes(got)
    new.replace(file)
    return got
