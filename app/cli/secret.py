"""What must not stand in a command line: it is named, and read from there."""

import os
from pathlib import Path

from app.errors import BadInput


def secret(named: str) -> str:
    """Of a variable of the environment, or a file."""
    if (held := os.environ.get(named)) is not None:
        return held.strip()
    try:
        return Path(named).read_text().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise BadInput(f"{named[:80]!a} is neither a variable nor a file that can be read: name one.") from exc
