"""Reads overlapping drop-in folders: files by base name, where the first folder overrides the others."""

from app.syntax import host_text
from app.syntax.files import Files
from app.targets.effects import shipped_files

_OURS = ("/etc", "/run", "/usr/local/lib")
_VENDORS = ("/usr/lib", "/lib")
NAMES = ("sysctl.d", "modprobe.d")

VENDOR = (shipped_files.DEBIAN, *(f"{folder}/{name}/*.conf" for name in NAMES for folder in (*_OURS[1:], *_VENDORS)))
"""Read-only, but the effect of a change in /etc depends on them."""


def read_drop_ins(name: str, files: Files, *, hidden: bool = False) -> list[str]:
    """Return the drop-in texts in reading order; the distribution's known files if no vendor folder is visible.

    With `hidden`, names that start with a dot are included, as some programs do.
    """
    patterns = ("*.conf", ".*.conf") if hidden else ("*.conf",)
    seen = any(files.glob(f"{folder}/{name}/*.conf") for folder in _VENDORS)
    found = {} if seen else dict(shipped_files.get_shipped_files(name, files))
    for folder in (*_VENDORS[::-1], *_OURS[::-1]):
        for path in (
            path for pattern in patterns for path in host_text.glob_files(files, f"{folder}/{name}/{pattern}")
        ):
            found[path.rpartition("/")[2]] = host_text.read_text(files, path) or ""
    return [found[name] for name in sorted(found)]
