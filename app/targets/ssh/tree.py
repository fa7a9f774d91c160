"""A host's files over a line: read from what was fetched last, changed one file at a time, each whole or not at all."""

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
"""A link to a link, an Include in an Include."""


class RemoteTree:
    def __init__(self, line: SshLine) -> None:
        self._line = line
        self._fetching = threading.Lock()
        self._held: Snapshot | None = None
        self._believed = False
        self.alone = False
        """The host keeps no journals."""
        self._anyway = False
        self._wanted: tuple[str, ...] = ALWAYS
        self._named: tuple[str, ...] = ()

    def needs(self, paths: Iterable[str]) -> None:
        """What rules name beside what is judged."""
        self._named = tuple(path for path in dict.fromkeys(paths) if not judged(path))

    @property
    def held(self) -> Snapshot:
        with self._fetching:
            if self._held is None:
                self._held = self._fetched()
            return self._held

    def look_again(self, *, believe: bool = False) -> Snapshot:
        """All of it anew. Where it is believed, the host is not asked again for each path until `doubt`."""
        with self._fetching:
            self._held, self._believed = self._fetched(), believe
            return self._held

    def _fetched(self) -> Snapshot:
        """What the judges then look for in vain is fetched too, and remembered for the next time."""
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
        """For a rollback onto a host that lost its own journal."""
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

    # For a change the host itself is asked, each time that matters.

    def exact(self, path: str) -> FileState | None:
        return self._now(path).exact(path)

    def missing_folders(self, path: str) -> list[str]:
        return self._now(path).missing_folders(path)

    def _now(self, path: str) -> Snapshot:
        """Held from here on, so that what is planned is planned over what was looked at."""
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
        """As a rule only what an open journal of the host holds is written."""
        if self.alone:
            return "alone"
        return "anyway" if self._anyway else "journalled"

    def _do(self, path: str, name: str, *arguments: str, data: bytes = b"") -> None:
        said = self._line.run(name, *arguments, data=data)
        if said.code:
            raise ActionFailed(f"{path} was not changed: {clean(said.err.strip(), 200) or 'no reason given'}.")
