"""Identifies the build that wrote a paper: its version and a digest of its sources, which decide the bytes."""

import functools
import hashlib

from app import __version__
from app.config import PACKAGE


@functools.cache
def compute_build_id() -> str:
    # Migrations are inside an installed package but outside app/ in a checkout, and no paper depends on them.
    code = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]
    sources = [*code, *PACKAGE.rglob("*.toml"), PACKAGE / "evidence" / "pack_readme.txt"]
    seen = hashlib.sha256((PACKAGE / "templates" / "report.html").read_bytes())
    for source in sorted(sources):
        seen.update(source.relative_to(PACKAGE).as_posix().encode() + b"\0" + source.read_bytes())
    return f"temper {__version__}, sources {seen.hexdigest()[:12]}"
