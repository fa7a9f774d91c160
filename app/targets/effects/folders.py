"""Folders of drop-ins that overlap: read by base name, and of two files of one name only the first folder's counts."""

from app.syntax import source
from app.syntax.files import Files
from app.targets.effects import shipped

_OURS = ("/etc", "/run", "/usr/local/lib")
_VENDORS = ("/usr/lib", "/lib")
NAMES = ("sysctl.d", "modprobe.d")

VENDOR = (shipped.DEBIAN, *(f"{folder}/{name}/*.conf" for name in NAMES for folder in (*_OURS[1:], *_VENDORS)))
"""Nobody changes these, and what a change in /etc does depends on them."""


def texts(name: str, files: Files, *, hidden: bool = False) -> list[str]:
    """In the order in which they are read. Where no vendor's folder can be seen, the distribution's known files.

    With `hidden`, of a program that takes names with a dot ahead too.
    """
    patterns = ("*.conf", ".*.conf") if hidden else ("*.conf",)
    seen = any(files.glob(f"{folder}/{name}/*.conf") for folder in _VENDORS)
    found = {} if seen else dict(shipped.of(name, files))
    for folder in (*_VENDORS[::-1], *_OURS[::-1]):
        for path in (path for pattern in patterns for path in source.glob(files, f"{folder}/{name}/{pattern}")):
            found[path.rpartition("/")[2]] = source.text(files, path) or ""
    return [found[name] for name in sorted(found)]
