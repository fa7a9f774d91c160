"""Read secrets by name, so that they never appear on a command line."""

import os
from pathlib import Path

from app.errors import BadInput


def read_secret(named: str) -> str:
    """Return the secret in the environment variable or file `named`. Raise BadInput if there is neither."""
    if (held := os.environ.get(named)) is not None:
        return held.strip()
    try:
        return Path(named).read_text().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise BadInput(
            f"{named[:80]!a} is neither an environment variable nor a readable file: give one of these."
        ) from exc
