"""Non-file resources: packages, units, mounts and password ageing.

The host does a dry run of each change before anything is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.events.vocabulary import (
    VENDOR_SCRIPT,
    AddMountOptions,
    AnyAction,
    FileChange,
    InstallPackage,
    RemovePackage,
    ResourceAction,
    RunVendorScript,
    SetAgeing,
    SetUnit,
)
from app.syntax.files import FileState
from app.targets.baseline import SideEffects, build_file_change

PACKAGE, UNIT, MOUNT, ACCOUNT = "package:", "unit:", "mount:", "account:"
INSTALLED = "installed "
ABSENT = ""
NOT_FORESEEN = "not foreseen here"
"""The result for a resource that a vendor's script names: a copy of the files cannot show it."""


@dataclass(frozen=True)
class ResourceState:
    """The state of a resource before and after, in the host's words; empty if it is absent."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class DryRun:
    """The result of a dry run with the host's own tools."""

    states: tuple[ResourceState, ...] = ()
    needed: frozenset[str] = frozenset()
    """Packages that this program and its probes need, and accounts that log in."""
    today: int = 0
    """The host's date, in days since 1970."""
    lacking: str = ""
    """Why the change is impossible; empty if it is possible."""
    files: Mapping[str, FileState] = field(default_factory=dict)
    """Files that a vendor's script changed, on a copy."""
    outcome: str = ""
    """Digest of the result, computed on the host."""

    @property
    def before_states(self) -> dict[str, FileState | None]:
        return {one.name: _to_file_state(one.before) for one in self.states}

    @property
    def after_states(self) -> dict[str, FileState]:
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


def get_resource_name(action: ResourceAction) -> str:
    match action:
        case InstallPackage() | RemovePackage():
            return f"{PACKAGE}{action.package}"
        case SetUnit():
            return f"{UNIT}{action.unit}"
        case AddMountOptions():
            return f"{MOUNT}{action.mount}"
        case SetAgeing():
            return f"{ACCOUNT}{action.account}"
        case RunVendorScript():
            return f"{VENDOR_SCRIPT}{action.rule}"


def state_matches(wanted: str, found: str) -> bool:
    """Return True if the actual state is the expected one. An unmasked unit may be enabled or disabled."""
    if wanted.startswith("unmasked "):
        return not found.startswith("masked") and found.partition(" ")[2] == wanted.partition(" ")[2]
    return wanted in (found, NOT_FORESEEN) or (not wanted and not found.startswith(INSTALLED))


def to_file_changes(foreseen: DryRun) -> tuple[FileChange, ...]:
    return tuple(
        build_file_change(one.name, _to_file_state(one.before), _to_file_state(one.after)) for one in foreseen.states
    )


def _to_file_state(state: str) -> FileState | None:
    return FileState(state.encode(), 0, "") if state else None
