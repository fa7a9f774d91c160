"""The dry run of changes to resources that are not files, made by the host before anything is changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.events.event_field_types import AnyAction, FileChange
from app.resources.kind import ForeseenStates, ResourceAction
from app.syntax.host_files_protocol import FileState
from app.targets.file_and_account_baseline import SideEffects, build_file_change


@dataclass(frozen=True)
class Permissions:
    mode: str = ""
    """Four octal digits; empty if it stays."""
    owner: str = ""
    """USER:GROUP; empty if it stays."""


@dataclass(frozen=True)
class DryRun(ForeseenStates):
    """The result of a dry run with the host's own tools."""

    lacking: str = ""
    """Why the change is impossible; empty if it is possible."""
    files: Mapping[str, FileState] = field(default_factory=dict)
    """Files that a vendor's script changed, on a copy."""
    outcome: str = ""
    """Digest of the result, computed on the host."""
    permissions: Mapping[str, Permissions] = field(default_factory=dict)
    """Folders, and files outside of the copy, to which a vendor's script would give another mode or owner."""

    @property
    def obstacle(self) -> str:
        """Why these actions cannot be made as they are; empty if they can."""
        place = next(iter(self.permissions), "")
        return self.lacking or (place and f"on a copy it changed the permissions of {place}, which is no plain file")

    @property
    def non_file_states_before(self) -> dict[str, FileState | None]:
        return {one.name: _wrap_state_text_as_file_state(one.before) for one in self.states}

    @property
    def non_file_states_after(self) -> dict[str, FileState]:
        """A removed resource has an empty state here."""
        return {one.name: FileState(one.after.encode(), 0, "") for one in self.states}


@dataclass(frozen=True)
class PerformedChange:
    side_effects: SideEffects = field(default_factory=SideEffects)
    changes: tuple[FileChange, ...] = ()


class ResourceManager(Protocol):
    def predict_changes(self, actions: Sequence[AnyAction]) -> DryRun: ...
    def perform_actions(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> PerformedChange: ...


_ONLY_FILES = "this host is a tree of files, with nothing that installs or removes"


class NoResources:
    """Resources of a host that is a tree of files: there are none."""

    def predict_changes(self, actions: Sequence[AnyAction]) -> DryRun:
        asked = any(isinstance(action, ResourceAction) for action in actions)
        return DryRun(lacking=_ONLY_FILES) if asked else NONE

    def perform_actions(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> PerformedChange:  # noqa: ARG002
        return PerformedChange()


NONE = DryRun()


def is_resource(place: str) -> bool:
    return not place.startswith("/")


def build_resource_changes(foreseen: DryRun) -> tuple[FileChange, ...]:
    return tuple(
        build_file_change(
            one.name, _wrap_state_text_as_file_state(one.before), _wrap_state_text_as_file_state(one.after)
        )
        for one in foreseen.states
    )


def _wrap_state_text_as_file_state(state: str) -> FileState | None:
    return FileState(state.encode(), 0, "") if state else None
