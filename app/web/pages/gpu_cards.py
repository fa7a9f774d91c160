"""Cards of GPUs: memory by owner, a minute of power history and other figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from app.events.kinds import GpuSampled
from app.machine.gpus.memory_waterfall import Kind, MemoryPart
from app.machine.sampling.memory_attribution import KnownEngines, attribute_memory
from app.machine.sampling.sample_board import POWER_SECONDS
from app.machine.sampling.sensor_provenance import describe_gpu_data_source, to_sensor_reading
from app.people.rights import viewers
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime
from app.web.pages.templating import render_template_to_text

router = APIRouter(include_in_schema=False)

LONGEST_STEP = 15.0
"""Seconds between samples that belong together: idle GPUs are sampled every ten seconds."""
_WORDS: dict[Kind, str] = {
    "weights": "weights",
    "kv": "KV pool",
    "graphs": "graphs and other",
    "engine": "engine, not told apart",
    "processes": "other processes",
    "other": "unexplained",
    "reserved": "reserved",
    "free": "free",
}
_FACT_FIELDS = {
    "power": ("power_w", 0, 1.0, "W"),
    "power limit": ("power_limit_w", 0, 1.0, "W"),
    "energy": ("energy_j", 1, 1000.0, "kJ"),
    "clock": ("sm_mhz", 0, 1.0, "MHz"),
    "memory clock": ("memory_mhz", 0, 1.0, "MHz"),
    "PCIe in": ("pcie_rx_mb_s", 1, 1.0, "MB/s"),
    "PCIe out": ("pcie_tx_mb_s", 1, 1.0, "MB/s"),
}


@dataclass(frozen=True)
class MemoryPiece:
    """A part of the memory as a piece of the bar; `left` and `width` are percentages."""

    part: MemoryPart
    words: str
    engine: str
    left: float
    width: float


@dataclass(frozen=True)
class GpuFact:
    words: str
    value: float | None
    digits: int
    unit: str
    source: str


@dataclass(frozen=True)
class GpuCard:
    event: GpuSampled
    pieces: tuple[MemoryPiece, ...] = ()
    facts: tuple[GpuFact, ...] = ()
    lines: tuple[str, ...] = ()
    """Power over the last minute, as points of a 60 × 12 picture. A new line begins after a time without samples."""
    at: float = 0.0

    @property
    def used_memory_percent(self) -> float | None:
        """Percentage of its memory in use."""
        used, total = self.event.used_gib, self.event.total_gib
        return round(100 * used / total, 1) if used is not None and total else None


@router.get("/machine/memory", name="machine_memory")
@viewers
def show_gpu_memory(runtime: TheRuntime) -> HTMLResponse:
    board, now = runtime.board, runtime.clock.now()
    newest = [(now - at, event) for _, (at, event) in sorted(board.gpus.items())]
    return HTMLResponse(render_memory_cards(board.collect_engine_knowledge(runtime.lineup), newest, board.exporters))


def render_gpu_cards(
    newest: Sequence[GpuSampled], power: Mapping[tuple[str, int], Iterable[tuple[float, float]]], reason: str
) -> str:
    cards = [
        GpuCard(event, lines=_format_power_line_points(power.get((event.host, event.gpu), ())))
        for event in sorted(newest, key=lambda event: (event.host, event.gpu))
    ]
    return render_template_to_text("partials/_gpus.html", cards=cards, reason=reason)


def render_memory_cards(
    known_engines: KnownEngines, samples_with_age: Sequence[tuple[float, GpuSampled]], exporters: Mapping[str, str]
) -> str:
    """`samples_with_age` has the age in seconds and the sample of each GPU."""
    cards = [_build_memory_card(known_engines, *one, exporters) for one in samples_with_age]
    return render_template_to_text("partials/_waterfall.html", cards=cards)


def build_gpu_cards(runtime: Runtime) -> list[GpuCard]:
    """Return complete cards. Ages are 0, so that a card without a new sample renders to the same text."""
    board, known = runtime.board, runtime.board.collect_engine_knowledge(runtime.lineup)
    cards = []
    for key, (at, event) in sorted(board.gpus.items()):
        card = _build_memory_card(known, 0.0, event, board.exporters)
        cards.append(replace(card, lines=_format_power_line_points(board.power.get(key, ())), at=at))
    return cards


def _build_memory_card(
    known_engines: KnownEngines, age: float, event: GpuSampled, exporters: Mapping[str, str]
) -> GpuCard:
    parts = attribute_memory(known_engines, event, describe_gpu_data_source(event, exporters))
    titles = {engine.name: engine.title for engine in known_engines.lineup.engines.values()}
    return GpuCard(event, tuple(_build_memory_pieces(parts, titles)), tuple(_build_gpu_facts(event, exporters, age)))


def _build_memory_pieces(parts: Sequence[MemoryPart], titles: dict[str, str]) -> Iterator[MemoryPiece]:
    total, left = sum(part.gib for part in parts) or 1.0, 0.0
    for part in parts:
        width = 100 * part.gib / total
        engine = titles.get(part.engine, part.engine)
        yield MemoryPiece(part, _WORDS[part.kind], engine, round(left, 3), round(width, 3))
        left += width


def _build_gpu_facts(event: GpuSampled, exporters: Mapping[str, str], age: float) -> Iterator[GpuFact]:
    for words, (field, digits, scale, unit) in _FACT_FIELDS.items():
        said = to_sensor_reading(event, field, exporters)
        value = None if said.value is None else said.value / scale
        yield GpuFact(words, value, digits, unit, f"{said.provenance}, {said.source}, {age + said.age:.0f} s old")


def _format_power_line_points(power_samples: Iterable[tuple[float, float]]) -> tuple[str, ...]:
    known = list(power_samples)
    if not known:
        return ()
    newest, top = known[-1][0], max(power for _, power in known) or 1.0
    lines: list[list[str]] = [[]]
    before = known[0][0]
    for at, power in known:
        if at - before > LONGEST_STEP:
            lines.append([])
        lines[-1].append(f"{POWER_SECONDS - (newest - at):.1f},{11.5 - 11 * power / top:.1f}")
        before = at
    return tuple(" ".join(points) for points in lines)
