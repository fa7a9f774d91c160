"""Files of a host over SSH: reads come from a snapshot, writes replace one file atomically."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from app.errors import ActionFailed
from app.syntax.files import FileState
from app.targets.readable import judged
from app.targets.ssh import fetched
from app.targets.ssh.line import SshLine
from app.targets.ssh.snapshot import Snapshot
from app.targets.ssh.wanted import ALWAYS, MOST, lacking
from app.text.clean import clean

_ROUNDS = 5
"""Fetches at most this often: a link or an Include can lead to another."""


class RemoteTree:
    def __init__(self, line: SshLine) -> None:
        self._line = line
        self._fetching = threading.Lock()
        self._held: Snapshot | None = None
        self._believed = False
        self.alone = False
        """True if the host keeps no journals."""
        self._anyway = False
        self._wanted: tuple[str, ...] = ALWAYS
        self._named: tuple[str, ...] = ()

    def needs(self, paths: Iterable[str]) -> None:
        """Also fetch these paths, which rules name and no judge reads."""
        self._named = tuple(path for path in dict.fromkeys(paths) if not judged(path))

    @property
    def held(self) -> Snapshot:
        with self._fetching:
            if self._held is None:
                self._held = self._fetched()
            return self._held

    def look_again(self, *, believe: bool = False) -> Snapshot:
        """Fetch all files again. With `believe`, single paths are not fetched again until `distrust_snapshot`."""
        with self._fetching:
            self._held, self._believed = self._fetched(), believe
            return self._held

    def _fetched(self) -> Snapshot:
        """Fetch the wanted files, then those that judges looked for in vain; remember these for the next time."""
        found = fetched.everything(self._line, self._wanted, self._named)
        for _ in range(_ROUNDS):
            more = lacking(found, self._wanted)[: MOST + len(ALWAYS) - len(self._wanted)]
            if not more:
                break
            self._wanted += tuple(more)
            found = fetched.everything(self._line, self._wanted, self._named)
        return found

    def doubt(self) -> None:
        self._believed = False

    @contextmanager
    def unguarded(self) -> Iterator[None]:
        """Allow writes without a journal on the host, for a rollback onto a host that lost it."""
        self._anyway = True
        try:
            yield
        finally:
            self._anyway = False

    def read(self, path: str) -> bytes | None:
        return self.held.read(path)

    def state(self, path: str) -> FileState | None:
        return self.held.state(path)

    def glob(self, pattern: str) -> list[str]:
        return self.held.glob(pattern)

    def first_link(self, path: str) -> str | None:
        return self.held.first_link(path)

    def leads_to(self, path: str) -> str | None:
        return self.held.leads_to(path)

    # Paths to be changed are fetched from the host again each time.

    def exact(self, path: str) -> FileState | None:
        return self._now(path).exact(path)

    def missing_folders(self, path: str) -> list[str]:
        return self._now(path).missing_folders(path)

    def _now(self, path: str) -> Snapshot:
        """Fetch the path again and update the snapshot, so that the plan uses what was checked."""
        if self._believed:
            return self.held
        held, found = self.held, fetched.these(self._line, [path])
        with self._fetching:
            self._held = held.with_these([path], found)
        return found

    def write(self, path: str, state: FileState) -> None:
        size, mode = str(len(state.content)), f"{state.mode:04o}"
        when = "-" if state.modified is None else f"{state.modified / 1e9:.9f}"
        self._do(path, "push", self._guard(), path, size, mode, state.owner, when, data=state.content)

    def remove(self, path: str) -> None:
        self._do(path, "place", "file", path)

    def make_folder(self, path: str) -> None:
        self._do(path, "place", "make", path)

    def remove_folder(self, path: str) -> None:
        self._do(path, "place", "folder", path)

    def _guard(self) -> str:
        """Return the write mode; normally the host writes only files that its open journal covers."""
        if self.alone:
            return "alone"
        return "anyway" if self._anyway else "journalled"

    def _do(self, path: str, name: str, *arguments: str, data: bytes = b"") -> None:
        said = self._line.run(name, *arguments, data=data)
        if said.code:
            raise ActionFailed(f"{path} was not changed: {clean(said.err.strip(), 200) or 'no reason given'}.")
