"""An immutable snapshot of a host's files in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.errors import ActionFailed
from app.syntax.host_files_protocol import FileState
from app.targets.path_walk import expand_pattern_to_unchecked_paths, find_first_link, follow_links, list_folders_above

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True)
class SnapshotEntry:
    kind: Kind
    state: FileState
    goal: str = ""
    """The target of a link."""


@dataclass(frozen=True)
class Snapshot:
    """Files by path; a path that was not fetched reads as absent."""

    entries: Mapping[str, SnapshotEntry]

    def read(self, path: str) -> bytes | None:
        found = self._follow_entry(path)
        return found.state.content if found and found.kind == "file" else None

    def state(self, path: str) -> FileState | None:
        found = self._follow_entry(path)
        return found.state if found and found.kind in ("file", "folder") else None

    def is_folder(self, path: str) -> bool:
        found = self._follow_entry(path)
        return found is not None and found.kind == "folder"

    def glob(self, pattern: str) -> list[str]:
        found = expand_pattern_to_unchecked_paths(pattern, lambda folder: self._names_by_folder.get(folder, ()))
        return sorted(path for path in found if self._follow_entry(path) is not None)

    def find_first_link(self, path: str) -> str | None:
        return find_first_link(path, self.link)

    def link(self, path: str) -> str | None:
        found = self.entries.get(path)
        return found.goal if found and found.kind == "link" else None

    def list_paths(self) -> list[str]:
        return sorted(self.entries)

    def require_plain_file_state_or_absence(self, path: str) -> FileState | None:
        """Return the state of a plain file, None if absent; raise ActionFailed for anything else."""
        for way in list_folders_above(path):
            if (above := self.entries.get(way)) and above.kind != "folder":
                raise ActionFailed(f"A link or a file stands where {path} needs a folder.")
        found = self.entries.get(path)
        if found is None:
            return None
        if found.kind == "folder":
            raise ActionFailed(f"{path} is a folder; name a plain file instead.")
        if found.kind != "file":
            raise ActionFailed(f"{path} is a link or not a plain file; name a plain file instead.")
        return found.state

    def list_missing_folders(self, path: str) -> list[str]:
        return [way for way in list_folders_above(path) if way not in self.entries]

    def with_updated_paths(self, paths: Iterable[str], fetched_snapshot: "Snapshot") -> "Snapshot":
        """Return a snapshot in which `fetched_snapshot` replaces these paths and their parents."""
        asked = {way for path in paths for way in (*list_folders_above(path), path)}
        others = {way: one for way, one in self.entries.items() if way not in asked}
        return Snapshot({**others, **fetched_snapshot.entries})

    def _follow_entry(self, path: str) -> SnapshotEntry | None:
        goal = self.resolve_links(path)
        return None if goal is None else self.entries.get(goal)

    def resolve_links(self, path: str) -> str | None:
        return follow_links(path, self.link)

    @cached_property
    def _names_by_folder(self) -> dict[str, list[str]]:
        held: dict[str, list[str]] = {}
        for path in self.entries:
            folder, _, name = path.rpartition("/")
            held.setdefault(folder, []).append(name)
        return held
