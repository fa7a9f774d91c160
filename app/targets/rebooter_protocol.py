"""Reboots a host: what a target offers beside its files, if its host can boot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class RollbackResult:
    """The result of a rollback. `differences` is empty if the host is byte for byte as before."""

    paths: tuple[str, ...]
    differences: tuple[str, ...]
    seconds: float


BootPhase = Literal["away", "starting", "up", "stopping"]


@dataclass(frozen=True)
class BootStatus:
    """What a fresh login found. `boot` is empty if there was none, and `reason` says why."""

    phase: BootPhase
    boot: str = ""
    reason: str = ""


class Rebooter(Protocol):
    is_disposable: bool
    """The host is a disposable machine, so nobody is asked before it is rebooted."""

    @property
    def has_emulated_processor(self) -> bool:
        """Whether the host's processor is emulated, so that it boots slowly."""

    @property
    def snapshot_name(self) -> str:
        """The name of the snapshot that `prepare` takes; empty if the machine is not ours."""

    @property
    def can_undo_alone(self) -> bool:
        """Whether the host keeps the journals with which it can take changes back by itself."""

    def read_boot_status(self) -> BootStatus:
        """Ask the host over a connection of its own. A host that does not answer is no error."""

    def prepare(self, guard: str, seconds: int, journals: Sequence[str]) -> None:
        """Take the snapshot, and have the host take `journals` back unless `confirm` comes in time.

        It has to come within `seconds` of the host's next start; 0 arranges nothing. `guard` names the arrangement.
        """

    def order(self) -> None:
        """Tell the host to reboot; raise ActionFailed if it refuses."""

    def confirm(self, guard: str) -> None:
        """Let the host keep the changes; raise ConnectionLost if it is taking them back already."""

    def has_undone_any(self, journals: Sequence[str]) -> bool:
        """Return whether the host has taken back one of these changes by itself."""

    def restore_snapshot(self) -> None:
        """Put the machine back to the snapshot that `prepare` took, running."""

    def undo(self, journals: Sequence[str]) -> RollbackResult:
        """Roll committed changes back, in this order. Repeatable, also after a crash."""

    def forget_committed_pre_images(self) -> None:
        """Remove what `commit` kept of committed changes: they are no longer rolled back."""

    def read_console(self) -> tuple[str, ...]:
        """Return the last lines of the machine's console; nothing if the machine is not ours."""
