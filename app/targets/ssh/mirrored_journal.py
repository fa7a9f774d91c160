"""Keeps the journal of a change here and on the host, so that the host can roll back by itself.

The local copy is stored for the next node before and after the host learns of the change.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.errors import ActionFailed, EnvironmentUnusable, TemperError
from app.events.event_field_types import FileChange
from app.syntax.host_files_protocol import FileState
from app.targets.file_and_account_baseline import SideEffects
from app.targets.journal import Before, Journal, Mark
from app.targets.resources.resource_dry_run import is_resource
from app.targets.ssh import service_activator
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.host_shell import ScriptResult
from app.targets.ssh.shell_script import load_script
from app.targets.ssh.ssh_resource_changes import SECONDS
from app.text.clean import clean_text

_SECONDS = 30.0


@dataclass(frozen=True)
class HostJournal:
    name: str
    mark: str
    armed: bool


class MirroredJournal:
    def __init__(
        self, here: Journal, line: SshConnection, seconds: int, begun: Callable[[], None], keep: Callable[[], None]
    ) -> None:
        self.local = here
        self.read_mark = here.read_mark
        self.read_contents, self.read_pre_images = here.read_contents, here.read_pre_images
        self._line, self._seconds, self._begun, self._keep = line, seconds, begun, keep
        self.local_only = False
        """True if a person accepted that the host keeps no journal; pre-images then exist only here."""
        self.services: tuple[str, ...] = ()
        """Services that the host reloads when it rolls the next change back."""

    def begin(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]:
        self._begun()
        if self.local_only and any(map(is_resource, after)):
            raise ActionFailed("Nothing was done: a host that keeps no journals cannot put a package back.")
        changes = self.local.begin(name, before, after, folders)
        self._keep()
        if self.local_only:
            return changes
        try:
            self._begin_on_host(name, before, after, folders)
        except TemperError:
            self.local.close(name, "undone")
            self._keep()
            raise
        return changes

    def write_side_effects(self, name: str, aftermath: SideEffects) -> None:
        self.local.write_side_effects(name, aftermath)
        self._keep()

    def fetch_journals_from_host(self) -> list[HostJournal]:
        said = self._line.run("journals")
        if said.code:
            raise EnvironmentUnusable(f"{self._line.end}: its journals cannot be read: {said.reason}.")
        lines = [line.split("\t") for line in said.lines]
        return [HostJournal(name, mark, armed == "armed") for name, mark, armed in lines]

    def find_host_journal(self, name: str) -> HostJournal | None:
        return next((one for one in self.fetch_journals_from_host() if one.name == name), None)

    def list_pending(self) -> list[str]:
        """Return open journals: local ones in order, then those that only the host has."""
        ours = self.local.list_pending()
        return [
            *ours,
            *(one.name for one in self.fetch_journals_from_host() if one.mark == "open" and one.name not in ours),
        ]

    def close(self, name: str, mark: Mark, *, keep_images: bool = False) -> None:
        """Close on the host first. If we crash in between, closing again is harmless."""
        if not self.local_only:
            self._require_success(self._line.run("close", name, mark, "keep" if keep_images else ""))
        if self.local.read_mark(name) == "open":
            self.local.close(name, mark, keep_images=keep_images)
        self._keep()

    def reopen(self, name: str) -> None:
        """Open a committed change whose images were kept, so that it can be rolled back. Repeatable."""
        if not self.local_only:
            self._require_success(self._line.run("reopen", name))
        if self.local.read_mark(name) == "committed":
            self.local.reopen(name)
            self._keep()

    def forget_committed_pre_images(self) -> None:
        """Delete the images of committed changes, which were kept for a reboot."""
        self.forget_committed_images_on_host()
        for name in self.local.list_committed():
            self.local.close(name, "committed")
        self._keep()

    def disarm_timer(self, name: str) -> None:
        if not self.local_only:
            self._require_success(self._line.run("disarm", name))

    def reload_services(self, paths: Iterable[str]) -> None:
        """Reload services after a rollback that we wrote ourselves. Health checks report failures."""
        self._line.run("reload", *dict.fromkeys((*self.services, *service_activator.list_services_to_reload(paths))))

    def may_cover_non_file_resources(self, name: str) -> bool:
        """Return True if the journal covers packages or other resources, which take longer to change and restore."""
        known = self.local.read_mark(name) is not None
        return not known or any(is_resource(one.path) for one in self.local.read_contents(name).files)

    def forget_committed_images_on_host(self) -> None:
        if not self.local_only:
            self._require_success(self._line.run("release", seconds=SECONDS))

    def restore_on_host_and_list_differences(self, name: str) -> list[str]:
        """Restore on the host from its own journal; return the paths that still differ."""
        limit = SECONDS if self.may_cover_non_file_resources(name) else _SECONDS
        said = self._line.run("restore", name, "asked", seconds=2 * limit)
        self._require_success(said)
        return [clean_text(path, 256) for path in said.lines]

    def _begin_on_host(self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]) -> None:
        files = [(number, path) for number, path in enumerate(after) if not is_resource(path)]
        rows = [f"{number}\t{_hash_content(before[path])}\t{path}\n" for number, path in files]
        rows += [f"resource\t-\t{name}\n" for name in after if is_resource(name)]
        rows += [f"folder\t-\t{folder}\n" for folder in folders]
        services = "\n".join(self.services)
        data = "".join(rows).encode()
        wide = any(map(is_resource, after))
        timer, seconds = (self._seconds + int(SECONDS), SECONDS) if wide else (self._seconds, _SECONDS)
        said = self._line.run("begin", name, str(timer), load_script("restore"), services, data=data, seconds=seconds)
        if said.code:
            raise ActionFailed(f"Nothing was written: {_join_last_lines(said.err)}.")

    def _require_success(self, result: ScriptResult) -> None:
        if result.code:
            raise ActionFailed(f"{self._line.end}: {_join_last_lines(result.err)}.")


def _hash_content(state: FileState | None) -> str:
    return "-" if state is None else hashlib.sha256(state.content).hexdigest()


def _join_last_lines(err: str) -> str:
    lines = [line for line in err.strip().splitlines() if line.strip()]
    return clean_text("; ".join(lines[-2:]), 300) if lines else "no reason given"
