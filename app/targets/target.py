"""A target is our handle on a host. It blocks, for minutes where the line is bad: `TargetThread` is for who awaits."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from app.events.words import AnyAction, FileChange, Probe
from app.syntax.files import Files
from app.targets.readable import Followed
from app.targets.recall import Recall
from app.targets.resources.offer import Offer, WantedResources
from app.targets.running import InForce

Asks = frozenset[str]
"""Settings that the rule itself wants, which may be weaker by somebody's count (Rule.asks)."""


@dataclass(frozen=True)
class Refusal:
    action: AnyAction
    clause: str
    reason: str


@dataclass(frozen=True)
class Preview:
    """What the actions would do, tried on a copy."""

    diff: str
    changes: tuple[FileChange, ...]


@dataclass(frozen=True)
class Applied:
    diff: str
    changes: tuple[FileChange, ...]
    seconds: float


@dataclass(frozen=True)
class Restored:
    """`differences` is empty when the host is byte for byte what it was."""

    paths: tuple[str, ...]
    differences: tuple[str, ...]
    seconds: float


class Target(Protocol):
    name: str
    simulated: bool
    confinement: str
    """In words for the page: how commands are confined, or that there are none."""

    recall: Recall
    """What was asked about its files before."""

    @property
    def files(self) -> Followed:
        """As they were looked at last. Of a host elsewhere they are held here: reading them asks it nothing more."""

    def look(self) -> AbstractContextManager[None]:
        """For many questions about the files: what one of them read is not read again. Nothing is changed meanwhile."""

    def needs(self, paths: Iterable[str], /) -> None:
        """The files that decide the rules in work: of a host elsewhere, what nobody judges is not read otherwise."""

    def prepare(self, *, changes: bool = True, consent: str = "", keep: bool = False) -> None:
        """Bring the host to where a run starts; the fixture is laid out anew, or taken as it stands with `keep`.

        One that is to be changed and could not be rolled back is refused, unless `consent` has the words for it.
        """

    def facts(self) -> dict[str, str]:
        """What a role should know of this host: system, services, accounts, who depends on what."""

    def review(
        self, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: Asks = frozenset()
    ) -> list[Refusal]:
        """The policy. Empty means that every action may run."""

    def offers(self, wanted: WantedResources, /) -> tuple[Offer, ...]:
        """What could be done to packages, units, mounts and accounts of these names, as far as the host has them."""

    def preview(self, actions: Sequence[AnyAction]) -> Preview: ...

    def rehearse(self, actions: Sequence[AnyAction]) -> Files:
        """The files as they would be after the actions, without touching the host."""

    def apply(
        self, journal: str, actions: Sequence[AnyAction], allowed_paths: frozenset[str], asks: Asks = frozenset()
    ) -> Applied:
        """Review again, journal the pre-images under the name `journal`, synced, then change."""

    def rollback(self, journal: str) -> Restored:
        """Undo what `journal` holds, however far it got; safe to repeat; nothing journalled is nothing to do."""

    def commit(self, journal: str) -> None:
        """The change stays: the journal is kept for evidence but no longer undone."""

    def pending(self) -> list[str]:
        """Journals neither committed nor rolled back, oldest first."""

    def health(self) -> tuple[Probe, ...]: ...

    def running(self) -> InForce:
        """What runs there, beside the files as they were looked at last: which boot, and what is not in force."""

    def drift(self, expected: Sequence[FileChange]) -> tuple[str, ...]:
        """What changed on the host since `prepare` or the last commit that `expected` does not account for."""

    def log_lines(self, limit: int) -> list[str]:
        """The newest lines of the host's logs, cleaned of control characters."""

    def digest(self) -> str:
        """sha256 over every path, content, mode and owner."""

    def close(self) -> None:
        """Let go of what it holds: a connection, where there is one."""
