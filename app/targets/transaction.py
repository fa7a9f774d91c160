"""A change to a host as one transaction: reviewed, journalled, written, then committed or rolled back."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from app.errors import ActionFailed, CannotRestore
from app.events.words import AnyAction, FileAction, FileChange
from app.syntax.files import FileState
from app.targets import policy, validate
from app.targets.change import plan_changes
from app.targets.changeable import Changeable, PreImages
from app.targets.diff import shown
from app.targets.effects.daemon import Ask
from app.targets.effects.judged import by_their_own_words
from app.targets.journal import Before, Mark
from app.targets.lock import HostLock
from app.targets.overlay import Overlay
from app.targets.patience import sit_out
from app.targets.recall import Recall
from app.targets.resources.foreseen import DryRun, NoResources, Resources
from app.targets.restore import restore
from app.targets.target import Applied, Asks, Restored

NO_RESOURCES = NoResources()


class Transactions:
    def __init__(
        self,
        tree: Changeable,
        journal: PreImages,
        changing: HostLock,
        ask: Ask,
        resources: Resources = NO_RESOURCES,
        recall: Recall | None = None,
        look: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._tree = tree
        self._journal = journal
        self._changing = changing
        self._ask = ask
        self._resources = resources
        self._recall = recall
        self._look = look

    def apply(
        self, name: str, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: Asks = frozenset()
    ) -> Applied:
        with self._changing:
            try:
                return self._apply(name, actions, allowed_paths, asks)
            except OSError as exc:
                raise ActionFailed(f"The change was not seen through: {exc.strerror}.") from exc

    def _apply(
        self, name: str, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: frozenset[str]
    ) -> Applied:
        began = time.monotonic()
        self._one_at_a_time()
        # Read before the review and compared again at the write, so that the reviewed files are the changed ones.
        paths = {action.path for action in actions if isinstance(action, FileAction)}
        before = {path: self._tree.exact(path) for path in sorted(paths)}
        foreseen = self._resources.foresee(actions)
        with self._look():
            after = self._judged(actions, allowed_paths, asks, foreseen)
        folders = sorted({folder for path in after for folder in self._tree.missing_folders(path)})
        changes = self._begin(name, foreseen.before | before, foreseen.after | after, folders)
        self._write(before, after, folders)
        theirs = {path: self._tree.state(path) for path in foreseen.files}
        performed = self._resources.perform(name, actions, foreseen)
        if foreseen.states:
            self._journal.note(name, performed.aftermath)
            files = [change for change in changes if change.path in after]
            changes = (*performed.changes, *files)
        diff = shown(actions, foreseen, before | theirs, after)
        return Applied(diff, changes, time.monotonic() - began)

    def roll_back(self, name: str) -> Restored:
        began = time.monotonic()
        with self._changing:
            mark = self._journal.mark(name)
            if mark == "committed":
                raise ActionFailed(f"The change {name} was committed; it is no longer undone.")
            if mark != "open":
                return Restored((), (), time.monotonic() - began)
            before = self._journal.before(name)
            differences = self._restore(name, before)
            if not differences:
                self._close(name, "undone")
        return Restored(tuple(before), tuple(differences), time.monotonic() - began)

    def commit(self, name: str) -> None:
        with self._changing:
            mark = self._journal.mark(name)
            if mark == "open":
                self._close(name, "committed")
            elif mark in ("undone", "void"):
                raise ActionFailed(f"The change {name} is {mark}; there is nothing to keep.")

    def _one_at_a_time(self) -> None:
        """Raise ActionFailed if a change is open: two journals over one file could not be undone separately."""
        for other in self._journal.pending():
            raise ActionFailed(f"The change {other} is still open; commit it or roll it back first.")

    def _judged(
        self, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: frozenset[str], foreseen: DryRun
    ) -> dict[str, FileState]:
        for refusal in policy.review(actions, allowed_paths, self._tree, asks, foreseen, self._recall):
            raise ActionFailed(f"Refused ({refusal.clause}): {refusal.reason}")
        after = plan_changes(actions, self._tree)
        made = after | dict(foreseen.files)
        new = Overlay(self._tree, made)
        for complaint in validate.complaints(made.keys(), self._tree, new, self._ask):
            raise ActionFailed(f"Nothing was written: {complaint}")
        weaker = by_their_own_words(made.keys(), self._tree, new, asks, self._ask)
        if weaker:
            raise ActionFailed(f"Nothing was written: {weaker.reason}")
        return after

    def _begin(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]:
        try:
            return self._journal.begin(name, before, after, folders)
        except OSError as exc:
            raise ActionFailed(f"Nothing was written: the journal cannot be kept ({exc.strerror}).") from exc

    def _restore(self, name: str, before: Before) -> list[str]:
        folders = self._journal.contents(name).folders
        try:
            return sit_out(lambda: restore(self._tree, before, folders))
        except (OSError, ActionFailed) as exc:
            raise CannotRestore(f"What the journal {name} holds cannot be put back: {exc}") from exc

    def _close(self, name: str, mark: Mark) -> None:
        try:
            sit_out(lambda: self._journal.close(name, mark))
        except OSError as exc:
            raise CannotRestore(f"The journal {name} cannot be marked {mark}: {exc.strerror}.") from exc

    def _write(self, before: Before, after: Mapping[str, FileState], folders: Sequence[str]) -> None:
        for folder in folders:
            self._tree.make_folder(folder)
        for path, state in after.items():
            if self._tree.exact(path) != before[path]:
                raise ActionFailed(f"{path} changed while the change was prepared; look at it and plan again.")
            self._tree.write(path, state)
