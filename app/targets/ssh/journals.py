"""Keeps the journal of a change here and on the host, so that the host can roll back by itself.

The local copy is stored for the next node before and after the host learns of the change.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.errors import ActionFailed, TemperError, Unusable
from app.events.words import FileChange
from app.syntax.files import FileState
from app.targets.baseline import Aftermath
from app.targets.journal import Before, Contents, Journal, Mark
from app.targets.resources.foreseen import is_resource
from app.targets.ssh import danger
from app.targets.ssh.line import LineAnswer, SshLine
from app.targets.ssh.resources import SECONDS
from app.targets.ssh.script import text_of
from app.text.clean import clean

_SECONDS = 30.0


@dataclass(frozen=True)
class OnHost:
    name: str
    mark: str
    armed: bool


class Journals:
    def __init__(
        self, here: Journal, line: SshLine, seconds: int, begun: Callable[[], None], keep: Callable[[], None]
    ) -> None:
        self.here = here
        self._keep = keep
        self._line = line
        self._seconds = seconds
        self._begun = begun
        self.alone = False
        """True if a person accepted that the host keeps no journal; pre-images then exist only here."""
        self.services: tuple[str, ...] = ()
        """Services that the host reloads when it rolls the next change back."""

    def begin(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]:
        self._begun()
        if self.alone and any(map(is_resource, after)):
            raise ActionFailed("Nothing was done: a host that keeps no journals cannot put a package back.")
        changes = self.here.begin(name, before, after, folders)
        self._keep()
        if self.alone:
            return changes
        try:
            self._begin_there(name, before, after, folders)
        except TemperError:
            self.here.close(name, "undone")
            self._keep()
            raise
        return changes

    def note(self, name: str, aftermath: Aftermath) -> None:
        self.here.note(name, aftermath)
        self._keep()

    def on_host(self) -> list[OnHost]:
        said = self._line.run("journals")
        if said.code:
            raise Unusable(f"{self._line.end}: its journals cannot be read: {clean(said.err.strip(), 200)}.")
        lines = [line.split("\t") for line in said.text.splitlines()]
        return [OnHost(name, mark, armed == "armed") for name, mark, armed in lines]

    def there(self, name: str) -> OnHost | None:
        return next((one for one in self.on_host() if one.name == name), None)

    def pending(self) -> list[str]:
        """Return open journals: local ones in order, then those that only the host has."""
        ours = self.here.pending()
        return [*ours, *(one.name for one in self.on_host() if one.mark == "open" and one.name not in ours)]

    def mark(self, name: str) -> Mark | None:
        return self.here.mark(name)

    def contents(self, name: str) -> Contents:
        return self.here.contents(name)

    def before(self, name: str) -> Before:
        return self.here.before(name)

    def close(self, name: str, mark: Mark) -> None:
        """Close on the host first. If we crash in between, closing again is harmless."""
        if not self.alone:
            self._told(self._line.run("close", name, mark))
        if self.here.mark(name) == "open":
            self.here.close(name, mark)
        self._keep()

    def disarm(self, name: str) -> None:
        if not self.alone:
            self._told(self._line.run("disarm", name))

    def reload(self, paths: Iterable[str]) -> None:
        """Reload services after a rollback that we wrote ourselves. Health checks report failures."""
        self._line.run("reload", *dict.fromkeys((*self.services, *danger.services(paths))))

    def wide(self, name: str) -> bool:
        """Return True if the journal covers packages or other resources, which take longer to change and restore."""
        return self.here.mark(name) is None or any(is_resource(one.path) for one in self.here.contents(name).files)

    def restore_there(self, name: str) -> list[str]:
        """Restore on the host from its own journal; return the paths that still differ."""
        said = self._line.run("restore", name, "asked", seconds=2 * SECONDS if self.wide(name) else 2 * _SECONDS)
        self._told(said)
        return [clean(path, 256) for path in said.text.splitlines() if path]

    def _begin_there(self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]) -> None:
        files = [(number, path) for number, path in enumerate(after) if not is_resource(path)]
        rows = [f"{number}\t{_digest(before[path])}\t{path}\n" for number, path in files]
        rows += [f"resource\t-\t{name}\n" for name in after if is_resource(name)]
        rows += [f"folder\t-\t{folder}\n" for folder in folders]
        services = "\n".join(self.services)
        data = "".join(rows).encode()
        wide = any(map(is_resource, after))
        timer, seconds = (self._seconds + int(SECONDS), SECONDS) if wide else (self._seconds, _SECONDS)
        said = self._line.run("begin", name, str(timer), text_of("restore"), services, data=data, seconds=seconds)
        if said.code:
            raise ActionFailed(f"Nothing was written: {_reason(said.err)}.")

    def _told(self, said: LineAnswer) -> None:
        if said.code:
            raise ActionFailed(f"{self._line.end}: {_reason(said.err)}.")


def _digest(state: FileState | None) -> str:
    return "-" if state is None else hashlib.sha256(state.content).hexdigest()


def _reason(err: str) -> str:
    lines = [line for line in err.strip().splitlines() if line.strip()]
    return clean("; ".join(lines[-2:]), 300) if lines else "no reason given"
