"""Files of a host over SSH: reads come from a snapshot, writes replace one file atomically."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from app.errors import ActionFailed
from app.syntax.host_files_protocol import FileState
from app.targets.files_that_roles_may_see import has_edit_judge
from app.targets.ssh import file_fetch
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.fetched_files import Snapshot
from app.targets.ssh.files_to_fetch import ALWAYS, MOST, list_unfetched_patterns_asked_by_probes, to_folder_only_pattern

_ROUNDS = 5
"""Fetches at most this often: a link or an Include can lead to another."""


class RemoteTree:
    def __init__(self, line: SshConnection) -> None:
        self._line = line
        self._fetching = threading.Lock()
        self._held: Snapshot | None = None
        self._complete: Snapshot | None = None
        """The last snapshot with all that judges look for: seeing that takes twenty times as long as comparing."""
        self._trusted = False
        self._sharing = self._fetched_once = False
        self.local_only = False
        """True if the host keeps no journals."""
        self._anyway = False
        self._wanted: tuple[str, ...] = ALWAYS
        self._named: tuple[str, ...] = ()

    def set_rule_paths_to_fetch(self, paths: Iterable[str]) -> None:
        """Also fetch these paths, which rules name and no judge reads."""
        self._named = tuple(path for path in dict.fromkeys(paths) if not has_edit_judge(path))

    @property
    def snapshot(self) -> Snapshot:
        with self._fetching:
            if self._held is None:
                self._held = self._fetch_snapshot()
            return self._held

    def refresh_whole_snapshot(self, *, skip_later_refetches_until_resumed: bool = False) -> Snapshot:
        """Fetch all files again.

        With `skip_later_refetches_until_resumed`, single paths are not fetched again until `resume_path_refetches`.
        """
        with self._fetching:
            if self._held is None or not self._fetched_once:
                self._held = self._fetch_snapshot()
            self._fetched_once, self._trusted = self._sharing, skip_later_refetches_until_resumed
            return self._held

    @contextmanager
    def share_snapshot(self) -> Iterator[None]:
        """Fetch all files at most once within this context, in which nothing may be changed."""
        self._sharing = True
        try:
            yield
        finally:
            self._sharing = self._fetched_once = False

    def _fetch_snapshot(self) -> Snapshot:
        """Fetch the wanted files, then those that judges looked for in vain; remember these for the next time."""
        found = file_fetch.fetch_patterns(self._line, self._wanted, self._named)
        if found == self._complete:
            return self._complete
        for _ in range(_ROUNDS):
            more = list_unfetched_patterns_asked_by_probes(found, self._wanted)[
                : MOST + len(ALWAYS) - len(self._wanted)
            ]
            if not more:
                break
            self._wanted += tuple(more)
            found = file_fetch.fetch_patterns(self._line, self._wanted, self._named)
        self._complete = found
        return found

    def resume_path_refetches(self) -> None:
        self._trusted = False

    @contextmanager
    def allow_unjournalled_writes(self) -> Iterator[None]:
        """Allow writes without a journal on the host, for a rollback onto a host that lost it."""
        self._anyway = True
        try:
            yield
        finally:
            self._anyway = False

    def read(self, path: str) -> bytes | None:
        return self.snapshot.read(path)

    def state(self, path: str) -> FileState | None:
        return self.snapshot.state(path)

    def is_folder(self, path: str) -> bool:
        """Ask the host for a folder that no file in work has named so far; each fetch then includes it."""
        held = self.snapshot
        asked = to_folder_only_pattern(path)
        if asked is None or asked in self._wanted or len(self._wanted) >= MOST + len(ALWAYS):
            return held.is_folder(path)
        found = file_fetch.fetch_patterns(self._line, [asked])
        with self._fetching:
            self._wanted += (asked,)
            self._held = Snapshot({**held.entries, **found.entries})
            return self._held.is_folder(path)

    def glob(self, pattern: str) -> list[str]:
        return self.snapshot.glob(pattern)

    def find_first_link(self, path: str) -> str | None:
        return self.snapshot.find_first_link(path)

    def resolve_links(self, path: str) -> str | None:
        return self.snapshot.resolve_links(path)

    # Paths to be changed are fetched from the host again each time.

    def require_plain_file_state_or_absence(self, path: str) -> FileState | None:
        return self._refetch_and_get_path_snapshot(path).require_plain_file_state_or_absence(path)

    def list_missing_folders(self, path: str) -> list[str]:
        return self._refetch_and_get_path_snapshot(path).list_missing_folders(path)

    def _refetch_and_get_path_snapshot(self, path: str) -> Snapshot:
        """Fetch the path again and update the snapshot, so that the plan uses what was checked."""
        if self._trusted:
            return self.snapshot
        held, found = self.snapshot, file_fetch.fetch_paths(self._line, [path])
        with self._fetching:
            self._held = held.with_updated_paths([path], found)
        return found

    def write(self, path: str, state: FileState) -> None:
        size, mode = str(len(state.content)), f"{state.mode:04o}"
        when = "-" if state.modified is None else f"{state.modified / 1e9:.9f}"
        # Normally the host writes only files that its open journal covers.
        how = "alone" if self.local_only else "anyway" if self._anyway else "journalled"
        self._run_change_or_raise_action_failed(
            path, "push", how, path, size, mode, state.owner, when, data=state.content
        )

    def remove(self, path: str) -> None:
        self._run_change_or_raise_action_failed(path, "place", "file", path)

    def make_folder(self, path: str) -> None:
        self._run_change_or_raise_action_failed(path, "place", "make", path)

    def remove_folder(self, path: str) -> None:
        self._run_change_or_raise_action_failed(path, "place", "folder", path)

    def _run_change_or_raise_action_failed(
        self, path_in_error: str, script_name: str, *arguments: str, data: bytes = b""
    ) -> None:
        said = self._line.run(script_name, *arguments, data=data)
        if said.code:
            raise ActionFailed(f"{path_in_error} was not changed: {said.reason}.")
