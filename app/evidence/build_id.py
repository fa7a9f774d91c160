"""Identifies the build that wrote a paper: its version and a digest of the sources that decide the bytes."""

import functools
import hashlib
from pathlib import Path

from app import __version__
from app.config import PACKAGE

_SOURCES = ("*.py", "*.toml", "*.sh", "*.yml", "evidence/*.txt", "evidence/playbook/*.md", "templates/report.html")


@functools.cache
def compute_build_id() -> str:
    return f"temper {__version__}, sources {hash_sources(PACKAGE)[:12]}"


def hash_sources(package: Path) -> str:
    """Return the digest of the files that decide what is done on a host and what a paper says."""
    seen = hashlib.sha256()
    for name in sorted({one.relative_to(package) for kind in _SOURCES for one in package.rglob(kind)}):
        # Migrations are inside an installed package but outside app/ in a checkout, and no paper depends on them.
        if name.parts[0] != "migrations":
            seen.update(name.as_posix().encode() + b"\0" + (package / name).read_bytes())
    return seen.hexdigest()
