"""What is no file, or not only: packages, units, mounts, the ageing of accounts.

The host works out what a change does to them before anything is done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.events.words import (
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
from app.targets.baseline import Aftermath
from app.targets.digest import change

PACKAGE, UNIT, MOUNT, ACCOUNT, VENDOR = "package:", "unit:", "mount:", "account:", "vendor:"
INSTALLED = "installed "
ABSENT = ""
NOT_FORESEEN = "not foreseen here"
"""Of what a script names beside files: a copy of the host's files does not show what comes of it."""


@dataclass(frozen=True)
class ResourceState:
    """What a resource is and would become, in the host's words; empty where it is not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class DryRun:
    """By a dry run of the host's own tools."""

    states: tuple[ResourceState, ...] = ()
    needed: frozenset[str] = frozenset()
    """What this program and its probes work with, whatever the host itself calls essential, and who logs in there."""
    today: int = 0
    """The host's own, in days since 1970."""
    lacking: str = ""
    """Why it cannot be done; empty where it can."""
    files: Mapping[str, FileState] = field(default_factory=dict)
    """What a script made of files, on a copy of them."""
    outcome: str = ""
    """Digest of that, as the host reckons it."""

    @property
    def before(self) -> dict[str, FileState | None]:
        return {one.name: _kept(one.before) for one in self.states}

    @property
    def after(self) -> dict[str, FileState]:
        """Of what goes, that it is not there is what comes of it."""
        return {one.name: FileState(one.after.encode(), 0, "") for one in self.states}


@dataclass(frozen=True)
class Performed:
    aftermath: Aftermath = field(default_factory=Aftermath)
    changes: tuple[FileChange, ...] = ()


class Resources(Protocol):
    def foresee(self, actions: Sequence[AnyAction]) -> DryRun: ...
    def perform(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> Performed: ...


_ONLY_FILES = "this host is a tree of files, with nothing that installs or removes"


class NoResources:
    """A tree of files has no package manager that could be asked."""

    def foresee(self, actions: Sequence[AnyAction]) -> DryRun:
        asked = any(isinstance(action, ResourceAction) for action in actions)
        return DryRun(lacking=_ONLY_FILES) if asked else NONE

    def perform(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> Performed:  # noqa: ARG002
        return Performed()


NONE = DryRun()


def is_resource(place: str) -> bool:
    return not place.startswith("/")


def resource_of(action: ResourceAction) -> str:
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
            return f"{VENDOR}{action.rule}"


def came(wanted: str, found: str) -> bool:
    """Word for word; of a unit that is no longer masked, whatever it was underneath will do."""
    if wanted.startswith("unmasked "):
        return not found.startswith("masked") and found.partition(" ")[2] == wanted.partition(" ")[2]
    return wanted in (found, NOT_FORESEEN) or (not wanted and not found.startswith(INSTALLED))


def recorded(foreseen: DryRun) -> tuple[FileChange, ...]:
    return tuple(change(one.name, _kept(one.before), _kept(one.after)) for one in foreseen.states)


def _kept(state: str) -> FileState | None:
    return FileState(state.encode(), 0, "") if state else None
