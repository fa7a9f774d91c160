"""Sources of GPU memory readings: NVML, the simulator, this process's sampler, or none."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from app.events.kinds import GpuSampled


class MemoryCard(Protocol):
    @property
    def host(self) -> str:
        """Empty for this machine."""

    @property
    def gpu(self) -> int:
        """Its number on its own machine."""

    @property
    def name(self) -> str: ...
    @property
    def used_gib(self) -> float | None: ...


class MemoryCards(Protocol):
    @property
    def reason(self) -> str:
        """Why figures are missing; empty if none are."""

    async def read(self) -> Sequence[MemoryCard]: ...


class MemoryBoard(Protocol):
    @property
    def gpus(self) -> Mapping[Any, tuple[float, GpuSampled]]: ...
    @property
    def gpu_reason(self) -> str: ...


class BoardCards:
    """Readings of this process's own sampler: NVML should have one reader."""

    def __init__(self, board: MemoryBoard) -> None:
        self._board = board

    @property
    def reason(self) -> str:
        return self._board.gpu_reason

    async def read(self) -> Sequence[MemoryCard]:
        return [event for _, event in self._board.gpus.values()]


class NoCards:
    def __init__(self, reason: str) -> None:
        self.reason = reason

    async def read(self) -> Sequence[MemoryCard]:
        return []
