"""A host over SSH, with the same policy and journal as the built-in host; it can roll back without a connection."""

import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from app.errors import ActionFailed, Unusable
from app.events.words import AnyAction, FileAction, FileChange, Probe, RunVendorScript
from app.syntax import source
from app.syntax.files import Files
from app.targets import baseline, policy
from app.targets.change import plan_changes
from app.targets.confine import Confinement, detect
from app.targets.disk import Disk, Folder
from app.targets.effects.asking import here
from app.targets.facts import facts
from app.targets.journal import Journal
from app.targets.lock import HostLock
from app.targets.overlay import Overlay
from app.targets.ownership import ALONE, Ownership
from app.targets.patience import prepared
from app.targets.preview import preview
from app.targets.readable import Followed
from app.targets.recall import Recall
from app.targets.resources.foreseen import UNIT, is_resource
from app.targets.resources.offer import Offer, WantedResources
from app.targets.running import InForce
from app.targets.ssh import danger, own, probes, running, undo
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.force import Force
from app.targets.ssh.journals import Journals
from app.targets.ssh.line import SshLine
from app.targets.ssh.listing import as_announced, listed, taken
from app.targets.ssh.ready import keeps_journals
from app.targets.ssh.resources import SECONDS, SshResources
from app.targets.ssh.shell import RemoteShell
from app.targets.ssh.there import first_of, there
from app.targets.ssh.tree import RemoteTree
from app.targets.target import Applied, Asks, Preview, Refusal, Restored
from app.targets.transaction import Transactions
from app.text.clean import clean

_PATIENCE = 60.0
"""Added to the host's rollback timer."""
_BASELINE, _ALONE = "baseline.json", "alone"
_LONGEST = 300


class SshTarget:
    simulated = False

    def __init__(
        self,
        name: str,
        folder: Path,
        end: Endpoint,
        *,
        confinement: Confinement | None = None,
        timer: int = danger.SECONDS,
        patience: float = _PATIENCE,
        owned: Ownership = ALONE,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.name = name
        self._owned = owned
        owned.bring()
        self.line = SshLine(end, folder / "known_hosts", owned=owned)
        self.shell = RemoteShell(self.line)
        self._folder = folder
        self._disk = Disk()
        self._timer = timer
        self._patience = timer + patience
        self._changing = HostLock(folder / "change.lock", owned.fence)
        self._force = Force(self.line)
        self._tree = RemoteTree(self.line)
        here_kept = Journal(folder / "journal", self._disk)
        self._journals = Journals(here_kept, self.line, timer, self._tree.doubt, owned.keep)
        self.recall = Recall()
        ask = first_of(there(self.line, self._tree), here(confinement or detect(), self.recall))
        self._resources = SshResources(self.line, self._listed)
        self._transactions = Transactions(self._tree, self._journals, self._changing, ask, self._resources, self.recall)
        self._goes(alone=(folder / _ALONE).is_file())

    @property
    def files(self) -> Followed:
        return self._tree.held

    def look(self) -> AbstractContextManager[None]:
        return nullcontext()

    def needs(self, paths: Iterable[str]) -> None:
        self._tree.needs(paths)

    def prepare(self, *, changes: bool = True, consent: str = "", keep: bool = True) -> None:  # noqa: ARG002
        prepared(lambda: self._prepare(consent if changes else None), self.name)

    def facts(self) -> dict[str, str]:
        files, user = self._tree, self.line.end.user
        system = source.text(files, "/etc/redhat-release") or _pretty(source.text(files, "/etc/os-release") or "")
        return facts(files) | {
            "system": clean(system.strip() or "unknown", _LONGEST),
            "agent": f"this program works as {user}; its account, key and sudo are protected",
        }

    def review(
        self, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: Asks = frozenset()
    ) -> list[Refusal]:
        refused = policy.review(actions, allowed_paths, self._tree, asks, self._resources.foresee(actions), self.recall)
        return refused or own.refusals(actions, self._tree, self.line.end.user)

    def offers(self, wanted: WantedResources) -> tuple[Offer, ...]:
        return self._resources.offers(wanted)

    def preview(self, actions: Sequence[AnyAction]) -> Preview:
        return preview(actions, self._tree.look_again(), self._resources.foresee(actions))

    def rehearse(self, actions: Sequence[AnyAction]) -> Files:
        held = self._tree.held
        return Overlay(held, plan_changes(actions, held))

    def apply(
        self, journal: str, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: Asks = frozenset()
    ) -> Applied:
        began = time.monotonic()
        try:
            files = self._tree.look_again(believe=True)
            for refusal in own.refusals(actions, files, self.line.end.user):
                raise ActionFailed(f"Refused ({refusal.clause}): {refusal.reason}")
            paths = {one.path for one in actions if isinstance(one, FileAction)}
            if any(isinstance(one, RunVendorScript) for one in actions):
                paths |= self._resources.foresee(actions).files.keys()
            self._journals.services = danger.services(paths, actions)
            self._force.before(self._journals.services)
            done = self._transactions.apply(journal, actions, allowed_paths, asks)
            self._force.bring(self._journals.services)
            self._confirm(journal)
            found = self._tree.look_again()
            if any(is_resource(change.path) for change in done.changes):
                self._weighed(done, files, found, asks)
        except Unusable as exc:
            raise ActionFailed(f"The change was not seen through: {exc}") from exc
        return Applied(done.diff, done.changes, time.monotonic() - began)

    def _weighed(self, done: Applied, before: Files, after: Files, asks: frozenset[str]) -> None:
        """Raise ActionFailed if package scripts weakened a file; their effect is known only afterwards."""
        paths = {change.path for change in done.changes if not is_resource(change.path)}
        if weaker := policy.changed(paths, before, after, asks, self.recall):
            raise ActionFailed(f"It is done and cannot stay ({weaker.clause}): {weaker.reason}")

    def rollback(self, journal: str) -> Restored:
        more = SECONDS if self._journals.wide(journal) else 0
        return undo.patiently(lambda: self._roll_back(journal), self._patience + more)

    def commit(self, journal: str) -> None:
        there = self._journals.there(journal)
        if there and there.mark == "undone" and self._journals.mark(journal) == "open":
            self._roll_back(journal)
            raise ActionFailed(f"The host took the change {journal} back by itself; there is nothing to keep.")
        if there and there.armed and there.mark == "open" and (why := self._confirm(journal)):
            raise ActionFailed(f"The change {journal} cannot stay: {why}.")
        self._transactions.commit(journal)

    def pending(self) -> list[str]:
        return self._journals.pending()

    def health(self) -> tuple[Probe, ...]:
        login = probes.new_login(self.line)
        try:
            files = self._tree.look_again()
            others = probes.watched_logins(self.line)
            ours = self._journals.here.resources()
            return (*login, *others, *(without_ours(one, ours) for one in probes.of_host(self.line, files)))
        except Unusable as exc:
            return (*login, Probe("line", False, clean(str(exc), _LONGEST)))

    def running(self) -> InForce:
        return running.asked(self.line, self._tree.held)

    def drift(self, expected: Sequence[FileChange]) -> tuple[str, ...]:
        held, kept = self._tree.look_again(), self._journals.here
        noted, underway = kept.aftermaths(), kept.underway()
        announced = [*kept.committed(), *expected]
        announced = [one for one in announced if not is_resource(one.path) and one.path not in underway]
        now = as_announced(listed(self.line, held), held, announced)
        return baseline.drift(baseline.after(taken(self._folder / _BASELINE), noted), now, announced)

    def log_lines(self, limit: int) -> list[str]:
        found = probes.logs(self.line, limit)
        share = max(1, limit // max(1, len({log for log, _ in found})))
        newest = [
            [(name, text) for name, text in found if name == log][-share:] for log in dict.fromkeys(n for n, _ in found)
        ]
        return [f"{name}: {clean(text, _LONGEST)}" for lines in newest for name, text in lines][:limit]

    def digest(self) -> str:
        return baseline.summary(listed(self.line, self._tree.held))

    def close(self) -> None:
        self.line.close()

    def _listed(self) -> baseline.Baseline:
        return listed(self.line, self._tree.look_again())

    def _prepare(self, consent: str | None) -> None:
        """Check that changes are possible, roll back open journals and store a baseline."""
        if consent is not None:
            self._note_alone(alone=not keeps_journals(self.line, self.name, consent))
        for name in self._journals.here.pending():
            undone = self._roll_back(name)
            if undone.differences:
                raise Unusable(f"{name} is still open and cannot be undone: {undone.differences[0]}.")
        for name in self._journals.pending():
            raise Unusable(
                f"{self.line.end} has the change {name} open, made from elsewhere. "
                f"If nobody works on it, take it back: temper host check {self.name} --undo."
            )
        self._journals.here.void()
        was = listed(self.line, self._tree.look_again())
        with Folder(self._folder) as folder:
            self._disk.write(folder, _BASELINE, msgspec.json.encode(was), 0o600)
        self._owned.keep()

    def _goes(self, *, alone: bool) -> None:
        self._journals.alone = self._tree.alone = alone
        way_back = (
            "pre-images here alone, since the host cannot be rolled back, which a person accepted"
            if alone
            else f"pre-images on the host and here; the host takes back what cuts the line, after {self._timer} s"
        )
        self.confinement = f"over SSH as {self.line.end.user}: typed file actions; {way_back}"

    def _note_alone(self, *, alone: bool) -> None:
        """Store the mode on disk, so that it also holds after a crash."""
        with Folder(self._folder) as folder:
            if alone:
                self._disk.write(folder, _ALONE, b"", 0o600)
            else:
                self._disk.remove(folder, _ALONE)
        self._goes(alone=alone)

    def _confirm(self, name: str) -> str:
        """Disarm the host's timer after a new login that can act as root; return why not, or ""."""
        for probe in probes.new_login(self.line):
            if not probe.ok:
                return probe.detail
        self._journals.disarm(name)
        return ""

    def _roll_back(self, name: str) -> Restored:
        with self._changing:
            return undo.roll_back(name, self._journals, self._tree)


def without_ours(probe: Probe, resources: Collection[str]) -> Probe:
    """Remove masked units from a probe's weaknesses if a change of ours masked them."""
    asked = {f"{name.removeprefix(UNIT)} masked" for name in resources if name.startswith(UNIT)}
    return msgspec.structs.replace(probe, weak=tuple(one for one in probe.weak if one not in asked))


def _pretty(release: str) -> str:
    names = [line.partition("=")[2].strip('"') for line in release.split("\n") if line.startswith("PRETTY_NAME=")]
    return names[0] if names else ""
