"""Reads overlapping drop-in folders: files by base name, where the first folder overrides the others."""

from pathlib import Path

import msgspec

from app.syntax import host_text
from app.syntax.host_files_protocol import Files

DEBIAN = "/etc/debian_version"

_SHIPPED = msgspec.toml.decode(
    Path(__file__).with_name("shipped_drop_ins.toml").read_bytes(), type=dict[str, dict[str, dict[str, str]]]
)


def is_debian(files: Files) -> bool:
    return files.state(DEBIAN) is not None


_OURS = ("/etc", "/run", "/usr/local/lib")
_VENDORS = ("/usr/lib", "/lib")
NAMES = ("sysctl.d", "modprobe.d")

VENDOR = (DEBIAN, *(f"{folder}/{name}/*.conf" for name in NAMES for folder in (*_OURS[1:], *_VENDORS)))
"""Read-only, but the effect of a change in /etc depends on them."""


def read_drop_in_texts(folder_name: str, files: Files, *, include_hidden: bool = False) -> list[str]:
    """Return the drop-in texts in reading order; the distribution's known files if no vendor folder is visible.

    With `include_hidden`, names that start with a dot are included, as some programs do.
    """
    patterns = ("*.conf", ".*.conf") if include_hidden else ("*.conf",)
    seen = any(files.glob(f"{folder}/{folder_name}/*.conf") for folder in _VENDORS)
    found = {} if seen else dict(_SHIPPED["debian" if is_debian(files) else "redhat"][folder_name])
    for folder in (*_VENDORS[::-1], *_OURS[::-1]):
        for pattern in patterns:
            for path in host_text.glob_paths_like_shell(files, f"{folder}/{folder_name}/{pattern}"):
                found[path.rpartition("/")[2]] = host_text.read_text(files, path) or ""
    return [found[folder_name] for folder_name in sorted(found)]
