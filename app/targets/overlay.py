"""A host's files with planned changes on top."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from app.syntax.host_files_protocol import Files, FileState


class Overlay:
    link: Callable[[str], str | None]
    """Present only if the files below know links, so that both sides of a comparison know the same."""

    def __init__(self, files: Files, planned: Mapping[str, FileState]) -> None:
        self._files = files
        self._planned = dict(planned)
        if (link := getattr(files, "link", None)) is not None:
            self.link = lambda path: None if path in self._planned else link(path)

    def read(self, path: str) -> bytes | None:
        planned = self._planned.get(path)
        return self._files.read(path) if planned is None else planned.content

    def state(self, path: str) -> FileState | None:
        return self._planned.get(path) or self._files.state(path)

    def glob(self, pattern: str) -> list[str]:
        depth = pattern.count("/")
        new = {path for path in self._planned if path.count("/") == depth and fnmatchcase(path, pattern)}
        return sorted(new.union(self._files.glob(pattern)))

    def is_folder(self, path: str) -> bool:
        return self._files.is_folder(path) or any(planned.startswith(f"{path}/") for planned in self._planned)
