"""A change to a host as one transaction: reviewed, journalled, written, then committed or rolled back."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from app.errors import ActionFailed, HostDrifted, RollbackFailed
from app.events.event_field_types import FileAction, FileChange
from app.syntax.host_files_protocol import FileState
from app.targets import config_validation
from app.targets.change_assessment import Assessment, Guard, assess_change
from app.targets.effects.daemon_base import Ask
from app.targets.effects.weakened_setting_search import find_weakening_objection_by_programs
from app.targets.file_and_account_baseline import SideEffects
from app.targets.full_disk_retry import retry_while_disk_full
from app.targets.host_lock import HostLock
from app.targets.journal import Before, JournalContents, Mark
from app.targets.overlay import Overlay
from app.targets.planned_effects_of_actions import ProposedChange
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.rebooter_protocol import RollbackResult
from app.targets.resources.resource_dry_run import ResourceManager
from app.targets.restore import ChangeableFiles, restore_files_remove_folders_and_list_differences
from app.targets.target import AppliedChange


class PreImageStore(Protocol):
    def begin(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]: ...
    def write_side_effects(self, name: str, aftermath: SideEffects) -> None: ...
    def read_mark(self, name: str) -> Mark | None: ...
    def read_contents(self, name: str) -> JournalContents: ...
    def read_pre_images(self, name: str) -> Before: ...
    def close(self, name: str, mark: Mark, *, keep_images: bool = False) -> None: ...
    def list_pending(self) -> list[str]: ...


@dataclass
class Transactions:
    tree: ChangeableFiles
    journal: PreImageStore
    changing: HostLock
    ask: Ask
    resources: ResourceManager
    recall: ReadTrackingCache
    look: Callable[[], AbstractContextManager[None]] = nullcontext
    guard: Guard | None = None
    prepare: Callable[[Assessment], None] | None = None
    """Called with each change that may be made, before anything is written."""

    def assess(self, change: ProposedChange, prior_assessment: Assessment | None = None) -> Assessment:
        """Return the assessment of the change on the host as it is now; `prior_assessment` itself if it is current."""
        foreseen = self.resources.predict_changes(change.actions)
        with self.look():
            if prior_assessment and prior_assessment.is_current(change, self.tree, foreseen):
                return prior_assessment
            return assess_change(change, self.tree, foreseen, self.recall, self.guard)

    def apply(self, name: str, change: ProposedChange, prior_assessment: Assessment | None = None) -> AppliedChange:
        with self.changing:
            try:
                return self._apply_and_leave_journal_open(name, change, prior_assessment)
            except OSError as exc:
                raise ActionFailed(f"The change was not seen through: {exc.strerror}.") from exc

    def _apply_and_leave_journal_open(
        self, name: str, change: ProposedChange, prior_assessment: Assessment | None
    ) -> AppliedChange:
        began = time.monotonic()
        self._require_no_pending()
        # Read before the assessment and compared again at the write, so that the assessed files are the changed ones.
        paths = {action.path for action in change.actions if isinstance(action, FileAction)}
        before = {path: self.tree.require_plain_file_state_or_absence(path) for path in sorted(paths)}
        with self.look():
            assessed = self.assess(change, prior_assessment)
            if (
                prior_assessment
                and prior_assessment.approved
                and assessed.diff_or_obstacle != prior_assessment.diff_or_obstacle
            ):
                raise HostDrifted("The host changed since the change was approved.")
            self._require_acceptable_to_policy_and_programs(assessed)
        if self.prepare:
            self.prepare(assessed)
        foreseen, after = assessed.foreseen, assessed.plan.after
        folders = sorted({folder for path in after for folder in self.tree.list_missing_folders(path)})
        new = {**foreseen.non_file_states_after, **after}
        try:
            changes = self.journal.begin(name, foreseen.non_file_states_before | before, new, folders)
        except OSError as exc:
            raise ActionFailed(f"Nothing was written: the journal cannot be kept ({exc.strerror}).") from exc
        self._write_files_unless_changed_meanwhile(before, after, folders)
        performed = self.resources.perform_actions(name, change.actions, foreseen)
        if foreseen.states:
            self.journal.write_side_effects(name, performed.side_effects)
            files = [change for change in changes if change.path in after]
            changes = (*performed.changes, *files)
        return AppliedChange(assessed.diff, changes, time.monotonic() - began)

    def roll_back(self, name: str) -> RollbackResult:
        began = time.monotonic()
        with self.changing:
            mark = self.journal.read_mark(name)
            if mark == "committed":
                raise ActionFailed(f"The change {name} was committed; it is no longer undone.")
            if mark != "open":
                return RollbackResult((), (), time.monotonic() - began)
            before = self.journal.read_pre_images(name)
            differences = self._restore_files_and_list_differences(name, before)
            if not differences:
                self._close_journal(name, "undone")
        return RollbackResult(tuple(before), tuple(differences), time.monotonic() - began)

    def commit(self, name: str, *, keep_images: bool = False) -> None:
        with self.changing:
            mark = self.journal.read_mark(name)
            if mark == "open":
                self._close_journal(name, "committed", keep_images=keep_images)
            elif mark in ("undone", "void"):
                raise ActionFailed(f"The change {name} is {mark}; there is nothing to keep.")

    def _require_no_pending(self) -> None:
        """Raise ActionFailed if a change is open: two journals over one file could not be undone separately."""
        for other in self.journal.list_pending():
            raise ActionFailed(f"The change {other} is still open; commit it or roll it back first.")

    def _require_acceptable_to_policy_and_programs(self, assessed: Assessment) -> None:
        """Raise ActionFailed if the policy refuses the change, or if one of the host's programs does."""
        for refusal in assessed.refusals:
            raise ActionFailed(f"Refused ({refusal.clause}): {refusal.reason}")
        if assessed.plan.obstacle:
            raise ActionFailed(assessed.plan.obstacle)
        paths, new = assessed.plan.made.keys(), Overlay(self.tree, assessed.plan.made)
        for complaint in config_validation.find_complaints(paths, self.tree, new, self.ask):
            raise ActionFailed(f"Nothing was written: {complaint}")
        if weaker := find_weakening_objection_by_programs(paths, self.tree, new, assessed.change.asks, self.ask):
            raise ActionFailed(f"Nothing was written: {weaker.reason}")

    def _restore_files_and_list_differences(self, name: str, before: Before) -> list[str]:
        folders = self.journal.read_contents(name).folders
        try:
            return retry_while_disk_full(
                lambda: restore_files_remove_folders_and_list_differences(self.tree, before, folders)
            )
        except (OSError, ActionFailed) as exc:
            raise RollbackFailed(f"What the journal {name} holds cannot be put back: {exc}") from exc

    def _close_journal(self, name: str, mark: Mark, *, keep_images: bool = False) -> None:
        try:
            retry_while_disk_full(lambda: self.journal.close(name, mark, keep_images=keep_images))
        except OSError as exc:
            raise RollbackFailed(f"The journal {name} cannot be marked {mark}: {exc.strerror}.") from exc

    def _write_files_unless_changed_meanwhile(
        self, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> None:
        for folder in folders:
            self.tree.make_folder(folder)
        for path, state in after.items():
            if self.tree.require_plain_file_state_or_absence(path) != before[path]:
                raise ActionFailed(f"{path} changed while the change was prepared; look at it and plan again.")
            self.tree.write(path, state)
