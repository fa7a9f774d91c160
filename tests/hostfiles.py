"""A host's files out of a dict: what every check and parser is tested on."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from app.syntax.host_files_protocol import FileState

USUAL = ("/etc", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/bin", "/sbin", "/boot", "/root", "/var/log")


class DictFiles:
    def __init__(self, texts: Mapping[str, str | bytes | FileState], folders: Iterable[str] = USUAL) -> None:
        self._folders = tuple(f"{folder}/" for folder in folders)
        self._states = {path: _state(value) for path, value in texts.items()}

    def read(self, path: str) -> bytes | None:
        state = self._states.get(path)
        return None if state is None else state.content

    def state(self, path: str) -> FileState | None:
        return self._states.get(path)

    def resolve_links(self, path: str) -> str | None:
        return path

    def is_folder(self, path: str) -> bool:
        return path == "/" or any(known.startswith(f"{path}/") for known in (*self._states, *self._folders))

    def glob(self, pattern: str) -> list[str]:
        depth = pattern.count("/")
        return sorted(p for p in self._states if p.count("/") == depth and fnmatchcase(p, pattern))


def _state(value: str | bytes | FileState) -> FileState:
    if isinstance(value, FileState):
        return value
    content = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return FileState(content, 0o644, "root:root")
