"""Pre-images in two places: here, for the record, and on the host, which can then undo a change by itself.

What is here is kept for whoever takes the host over before the host hears of it, and after it did.
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
        """The host keeps none, which a person accepted: pre-images are here and nowhere else."""
        self.services: tuple[str, ...] = ()
        """Of the change to come: what the host reloads when it takes it back."""

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
        """Ours in their order, then those that only the host knows."""
        ours = self.here.pending()
        return [*ours, *(one.name for one in self.on_host() if one.mark == "open" and one.name not in ours)]

    def mark(self, name: str) -> Mark | None:
        return self.here.mark(name)

    def contents(self, name: str) -> Contents:
        return self.here.contents(name)

    def before(self, name: str) -> Before:
        return self.here.before(name)

    def close(self, name: str, mark: Mark) -> None:
        """There first: what is still open here is closed again, which changes nothing."""
        if not self.alone:
            self._told(self._line.run("close", name, mark))
        if self.here.mark(name) == "open":
            self.here.close(name, mark)
        self._keep()

    def disarm(self, name: str) -> None:
        if not self.alone:
            self._told(self._line.run("disarm", name))

    def reload(self, paths: Iterable[str]) -> None:
        """Where the host did not take the change back itself, nobody has. What it says to that, health tells."""
        self._line.run("reload", *dict.fromkeys((*self.services, *danger.services(paths))))

    def wide(self, name: str) -> bool:
        """More than files: what a package manager does takes its time, and so does taking it back."""
        return self.here.mark(name) is None or any(is_resource(one.path) for one in self.here.contents(name).files)

    def restore_there(self, name: str) -> list[str]:
        """The paths that differ all the same."""
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
