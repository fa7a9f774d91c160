"""Memory of an engine's GPUs during a probe: before, at peak, after. NVML, the simulator or this process's sampler
reports it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from app.events.kinds import GpuSampled
from app.machine.gpus.gpu_reading import GpuReading
from app.machine.measuring.probe_figures import FigureOrigin, Measured, create_unknown
from app.machine.sampling.sample_board import Board

PERIOD = 1.0
GpuIndexByHostAndNumber = Mapping[tuple[str, int], int]
"""Host and number of a card to its index in the line-up."""
MemoryCard = GpuReading | GpuSampled
"""A reading of its source, or an event of this process's sampler."""


class MemoryCards(Protocol):
    @property
    def reason(self) -> str:
        """Why figures are missing; empty if none are."""

    async def read(self) -> Sequence[MemoryCard]: ...


class BoardCards:
    """Readings of this process's own sampler: NVML should have one reader."""

    def __init__(self, board: Board) -> None:
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


class MemoryWatch:
    def __init__(self, cards: MemoryCards, places: GpuIndexByHostAndNumber) -> None:
        self._cards, self._places = cards, places
        self.names: dict[int, str] = {}
        self.loaded: dict[int, float] = {}
        self.peak: dict[int, float] = {}
        self.newest: dict[int, float] = {}

    async def record_card_readings_once(self) -> None:
        for card in await self._cards.read():
            gpu = self._places.get((card.host, card.gpu))
            if gpu is None:
                continue
            self.names[gpu] = card.name
            if card.used_gib is not None:
                self.loaded.setdefault(gpu, card.used_gib)
                self.newest[gpu] = card.used_gib
                self.peak[gpu] = max(self.peak.get(gpu, 0.0), card.used_gib)

    async def poll_cards(self) -> None:
        while True:
            await asyncio.sleep(PERIOD)
            await self.record_card_readings_once()

    def list_figures(self, origin: FigureOrigin) -> list[Measured]:
        moments = (
            ("loaded_gib", self.loaded, "before the first question"),
            ("peak_gib", self.peak, "the most seen while it answered, once a second"),
            ("after_gib", self.newest, "after the last answer"),
        )
        found = [
            self._create_figure(f"{name}.{gpu}", at.get(gpu), when, origin)
            for gpu in self._places.values()
            for name, at, when in moments
        ]
        fullest = max(self.peak.values()) if self._places and len(self.peak) == len(self._places) else None
        return [*found, self._create_figure("vram_gib_per_gpu", fullest, "the fullest of its GPUs at its peak", origin)]

    def _create_figure(self, name: str, value: float | None, moment_text: str, origin: FigureOrigin) -> Measured:
        if value is None:
            return create_unknown(name, "GiB", self._cards.reason or "the GPU does not tell")
        reader = "the simulator" if origin.simulated else "NVML, of all processes, reserved memory apart"
        return origin.create_figure(name, value, "GiB", f"{reader}; {moment_text}")


@asynccontextmanager
async def watch_gpu_memory(
    cards: MemoryCards, lineup_gpu_index_by_host_and_number: GpuIndexByHostAndNumber
) -> AsyncIterator[MemoryWatch]:
    watch = MemoryWatch(cards, lineup_gpu_index_by_host_and_number)
    await watch.record_card_readings_once()
    task = asyncio.create_task(watch.poll_cards(), name="memory of the probed engine")
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.wait({task})
