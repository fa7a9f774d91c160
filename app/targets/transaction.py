"""A change to a host as one transaction: reviewed, journalled, written, then committed or rolled back."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from app.errors import ActionFailed, RollbackFailed
from app.events.vocabulary import AnyAction, FileAction, FileChange
from app.syntax.files import FileState
from app.targets import policy, validation
from app.targets.change_diff import render_change
from app.targets.changeable import ChangeableFiles, PreImageStore
from app.targets.disk_retry import retry_while_disk_full
from app.targets.effects.daemon import Ask
from app.targets.effects.weakening import find_weakening_by_programs
from app.targets.file_changes import plan_changes
from app.targets.host_lock import HostLock
from app.targets.journal import Before, Mark
from app.targets.overlay import Overlay
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.dry_run import DryRun, NoResources, ResourceManager
from app.targets.restore import restore_files
from app.targets.target import AppliedChange, Asks, RollbackResult

NO_RESOURCES = NoResources()


class Transactions:
    def __init__(
        self,
        tree: ChangeableFiles,
        journal: PreImageStore,
        changing: HostLock,
        ask: Ask,
        resources: ResourceManager = NO_RESOURCES,
        recall: ReadTrackingCache | None = None,
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
    ) -> AppliedChange:
        with self._changing:
            try:
                return self._apply_locked(name, actions, allowed_paths, asks)
            except OSError as exc:
                raise ActionFailed(f"The change was not seen through: {exc.strerror}.") from exc

    def _apply_locked(
        self, name: str, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: frozenset[str]
    ) -> AppliedChange:
        began = time.monotonic()
        self._require_no_pending()
        # Read before the review and compared again at the write, so that the reviewed files are the changed ones.
        paths = {action.path for action in actions if isinstance(action, FileAction)}
        before = {path: self._tree.read_exact_state(path) for path in sorted(paths)}
        foreseen = self._resources.predict_changes(actions)
        with self._look():
            after = self._judge_change(actions, allowed_paths, asks, foreseen)
        folders = sorted({folder for path in after for folder in self._tree.list_missing_folders(path)})
        changes = self._begin_journal(name, foreseen.before_states | before, foreseen.after_states | after, folders)
        self._write_changes(before, after, folders)
        theirs = {path: self._tree.state(path) for path in foreseen.files}
        performed = self._resources.perform_actions(name, actions, foreseen)
        if foreseen.states:
            self._journal.write_side_effects(name, performed.side_effects)
            files = [change for change in changes if change.path in after]
            changes = (*performed.changes, *files)
        diff = render_change(actions, foreseen, before | theirs, after)
        return AppliedChange(diff, changes, time.monotonic() - began)

    def roll_back(self, name: str) -> RollbackResult:
        began = time.monotonic()
        with self._changing:
            mark = self._journal.read_mark(name)
            if mark == "committed":
                raise ActionFailed(f"The change {name} was committed; it is no longer undone.")
            if mark != "open":
                return RollbackResult((), (), time.monotonic() - began)
            before = self._journal.read_pre_images(name)
            differences = self._restore_files(name, before)
            if not differences:
                self._close_journal(name, "undone")
        return RollbackResult(tuple(before), tuple(differences), time.monotonic() - began)

    def commit(self, name: str) -> None:
        with self._changing:
            mark = self._journal.read_mark(name)
            if mark == "open":
                self._close_journal(name, "committed")
            elif mark in ("undone", "void"):
                raise ActionFailed(f"The change {name} is {mark}; there is nothing to keep.")

    def _require_no_pending(self) -> None:
        """Raise ActionFailed if a change is open: two journals over one file could not be undone separately."""
        for other in self._journal.list_pending():
            raise ActionFailed(f"The change {other} is still open; commit it or roll it back first.")

    def _judge_change(
        self, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: frozenset[str], foreseen: DryRun
    ) -> dict[str, FileState]:
        for refusal in policy.review_actions(actions, allowed_paths, self._tree, asks, foreseen, self._recall):
            raise ActionFailed(f"Refused ({refusal.clause}): {refusal.reason}")
        after = plan_changes(actions, self._tree)
        made = after | dict(foreseen.files)
        new = Overlay(self._tree, made)
        for complaint in validation.find_complaints(made.keys(), self._tree, new, self._ask):
            raise ActionFailed(f"Nothing was written: {complaint}")
        weaker = find_weakening_by_programs(made.keys(), self._tree, new, asks, self._ask)
        if weaker:
            raise ActionFailed(f"Nothing was written: {weaker.reason}")
        return after

    def _begin_journal(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]:
        try:
            return self._journal.begin(name, before, after, folders)
        except OSError as exc:
            raise ActionFailed(f"Nothing was written: the journal cannot be kept ({exc.strerror}).") from exc

    def _restore_files(self, name: str, before: Before) -> list[str]:
        folders = self._journal.read_contents(name).folders
        try:
            return retry_while_disk_full(lambda: restore_files(self._tree, before, folders))
        except (OSError, ActionFailed) as exc:
            raise RollbackFailed(f"What the journal {name} holds cannot be put back: {exc}") from exc

    def _close_journal(self, name: str, mark: Mark) -> None:
        try:
            retry_while_disk_full(lambda: self._journal.close(name, mark))
        except OSError as exc:
            raise RollbackFailed(f"The journal {name} cannot be marked {mark}: {exc.strerror}.") from exc

    def _write_changes(self, before: Before, after: Mapping[str, FileState], folders: Sequence[str]) -> None:
        for folder in folders:
            self._tree.make_folder(folder)
        for path, state in after.items():
            if self._tree.read_exact_state(path) != before[path]:
                raise ActionFailed(f"{path} changed while the change was prepared; look at it and plan again.")
            self._tree.write(path, state)
