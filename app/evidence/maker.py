"""Which Temper wrote a paper: its version, and its very sources, since both decide the bytes."""

import functools
import hashlib

from app import __version__
from app.config import ROOT


@functools.cache
def maker() -> str:
    sources = [*(ROOT / "app").rglob("*.py"), *(ROOT / "app" / "skills").rglob("*.toml")]
    seen = hashlib.sha256((ROOT / "app" / "templates" / "report.html").read_bytes())
    for source in sorted(sources):
        seen.update(source.relative_to(ROOT).as_posix().encode() + b"\0" + source.read_bytes())
    return f"temper {__version__}, sources {seen.hexdigest()[:12]}"
