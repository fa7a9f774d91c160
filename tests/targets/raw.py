"""A look at a host's folder that uses nothing of the code under test."""

import json
import os
from pathlib import Path
from stat import S_IMODE


def everything(folder: Path) -> dict[str, object]:
    """Content, mode and kind of every path below root/, and the owner table. The temp files of a crash would show."""
    root = folder / "root"
    found: dict[str, object] = {"owners": json.loads((folder / "owners.json").read_text())}
    for at, folders, files in os.walk(root):
        for name in folders:
            path = Path(at, name)
            found[str(path)] = ("link", path.readlink()) if path.is_symlink() else ("folder", _mode(path))
        for name in files:
            path = Path(at, name)
            found[str(path)] = ("link", path.readlink()) if path.is_symlink() else (_mode(path), _content(path))
    return found


def _mode(path: Path) -> str:
    return oct(S_IMODE(path.lstat().st_mode))


def _content(path: Path) -> bytes:
    mode = path.stat().st_mode
    try:
        return path.read_bytes()
    except PermissionError:
        path.chmod(0o400)
        return path.read_bytes()
    finally:
        path.chmod(S_IMODE(mode))
