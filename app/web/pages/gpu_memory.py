"""Each GPU's memory by owner, with its other figures, for the operator's page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from app.events.kinds import GpuSampled
from app.events.vocabulary import GpuProcess
from app.machine.gpus.waterfall import Kind, MemoryPart
from app.machine.sampling.memory_attribution import KnownEngines, attribute_memory
from app.machine.sampling.sensors import name_reader, to_sensor_reading
from app.people.rights import viewers
from app.runtime.runtime import Runtime
from app.web.deps import TheRuntime
from app.web.pages.templating import render_template

router = APIRouter(include_in_schema=False)

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
    kind: Kind
    words: str
    engine: str
    gib: float
    claimed: float | None
    left: float
    """In percent of the bar, like `width`."""
    width: float
    known: str
    """Its provenance: measured, derived, estimated and so on."""
    source: str


@dataclass(frozen=True)
class GpuFact:
    words: str
    value: float | None
    digits: int
    unit: str
    source: str


@dataclass(frozen=True)
class GpuMemory:
    number: int
    host: str
    name: str
    used: float | None
    total: float | None
    unified: bool
    simulated: bool
    pieces: tuple[MemoryPiece, ...]
    facts: tuple[GpuFact, ...]
    throttled: tuple[str, ...]
    ecc: int | None
    processes: tuple[GpuProcess, ...]


@router.get("/machine/memory", name="machine_memory")
@viewers
def show_gpu_memory(runtime: TheRuntime) -> HTMLResponse:
    return HTMLResponse(render_gpu_memory(runtime))


def render_gpu_memory(runtime: Runtime) -> str:
    board, now = runtime.board, runtime.clock.now()
    newest = [(now - at, event) for _, (at, event) in sorted(board.gpus.items())]
    return render_memory_cards(board.get_known_engines(runtime.lineup), newest, board.exporters)


def build_memory_cards(runtime: Runtime) -> dict[tuple[str, int], GpuMemory]:
    """Return the cards by host and GPU number. Ages are 0, so that a card without a new sample compares equal."""
    board, known = runtime.board, runtime.board.get_known_engines(runtime.lineup)
    return {
        key: _build_memory_card(known, 0.0, event, board.exporters) for key, (_, event) in sorted(board.gpus.items())
    }


def render_memory_cards(
    known: KnownEngines, newest: Sequence[tuple[float, GpuSampled]], exporters: Mapping[str, str]
) -> str:
    """`newest` has the age in seconds and the sample of each GPU."""
    return render_template(
        "partials/_waterfall.html", cards=[_build_memory_card(known, *one, exporters) for one in newest]
    )


def _build_memory_card(known: KnownEngines, age: float, event: GpuSampled, exporters: Mapping[str, str]) -> GpuMemory:
    parts = attribute_memory(known, event, name_reader(event, exporters))
    titles = {engine.name: engine.title for engine in known.lineup.engines.values()}
    return GpuMemory(
        number=event.gpu,
        host=event.host,
        name=event.name,
        used=event.used_gib,
        total=event.total_gib,
        unified=event.unified,
        simulated=event.simulated,
        pieces=tuple(_build_memory_pieces(parts, titles)),
        facts=tuple(_build_gpu_facts(event, exporters, age)),
        throttled=event.throttled,
        ecc=event.ecc_uncorrected,
        processes=event.processes,
    )


def _build_memory_pieces(parts: Sequence[MemoryPart], titles: dict[str, str]) -> Iterator[MemoryPiece]:
    total, left = sum(part.gib for part in parts) or 1.0, 0.0
    for part in parts:
        width = 100 * part.gib / total
        yield MemoryPiece(
            kind=part.kind,
            words=_WORDS[part.kind],
            engine=titles.get(part.engine, part.engine),
            gib=part.gib,
            claimed=part.claimed_gib,
            left=round(left, 3),
            width=round(width, 3),
            known=part.provenance,
            source=part.source,
        )
        left += width


def _build_gpu_facts(event: GpuSampled, exporters: Mapping[str, str], age: float) -> Iterator[GpuFact]:
    for words, (field, digits, scale, unit) in _FACT_FIELDS.items():
        said = to_sensor_reading(event, field, exporters)
        value = None if said.value is None else said.value / scale
        yield GpuFact(words, value, digits, unit, f"{said.provenance}, {said.source}, {age + said.age:.0f} s old")
