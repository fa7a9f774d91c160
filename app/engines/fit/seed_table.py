"""Seven configurations that were tried on four L4, compared with their estimates.

On the hardware, bf16 ran out of memory twice, NVFP4 on one GPU once, one configuration crashed and three worked.
"""

from dataclasses import dataclass
from typing import Literal

from app.engines.fit.estimate import Fit
from app.engines.fit.fit_plan import fit_engine
from app.engines.fit.gpu_kinds import parse_gpus
from app.lineups.model import Engine, Lineup, Precision

Outcome = Literal["OOM", "works", "bug"]
VLLM = "0.19.0"
CONTEXT = 4096


@dataclass(frozen=True)
class SeedRow:
    configuration: str
    claimed: str
    """VRAM per GPU as the seeds state it."""
    found: Outcome
    """Outcome on the hardware."""
    verdict: Outcome
    fit: Fit

    @property
    def agrees(self) -> bool:
        return self.found == self.verdict


@dataclass(frozen=True)
class _TriedConfiguration:
    configuration: str
    model: str
    precision: Precision
    tp: int
    pp: int
    claimed: str
    found: Outcome


_NVFP4, _BF16 = "nvidia/Gemma-4-31B-IT-NVFP4", "google/gemma-4-31B-it"
_TRIED = (
    _TriedConfiguration("31B bf16, tp=2", _BF16, "bf16", 2, 1, "~31 GB", "OOM"),
    _TriedConfiguration("31B bf16, pp=2", _BF16, "bf16", 1, 2, "~31 GB", "OOM"),
    _TriedConfiguration("31B NVFP4, tp=1", _NVFP4, "nvfp4", 1, 1, "~22 GB", "OOM"),
    _TriedConfiguration("31B NVFP4, tp=2", _NVFP4, "nvfp4", 2, 1, "~11 GB", "works"),
    _TriedConfiguration("31B NVFP4, pp=2", _NVFP4, "nvfp4", 1, 2, "—", "bug"),
    _TriedConfiguration("E4B bf16, tp=1", "google/gemma-4-E4B-it", "bf16", 1, 1, "~16 GB", "works"),
    _TriedConfiguration("E2B bf16, tp=1", "google/gemma-4-E2B-it", "bf16", 1, 1, "~10 GB", "works"),
)


def build_seed_table() -> tuple[SeedRow, ...]:
    return tuple(_build_row(tried) for tried in _TRIED)


def create_single_lineup(engine: Engine, gpus: str) -> tuple[Lineup, Engine]:
    """Return a line-up of this engine alone, and the engine."""
    there = parse_gpus(gpus, engine.gpus)
    return Lineup(engine.name, engine.title, "", there, {engine.name: engine}, {}), engine


def _build_row(tried: _TriedConfiguration) -> SeedRow:
    fit = fit_engine(*create_single_lineup(_create_engine(tried), "l4:4"))
    return SeedRow(tried.configuration, tried.claimed, tried.found, _judge_row(fit), fit)


def _create_engine(tried: _TriedConfiguration) -> Engine:
    return Engine(
        name=tried.configuration,
        title=tried.configuration,
        model=tried.model,
        precision=tried.precision,
        gpus=tuple(range(tried.tp * tried.pp)),
        tp=tried.tp,
        pp=tried.pp,
        max_model_len=CONTEXT,
        vllm=VLLM,
        kv_dtype="fp8" if tried.precision == "nvfp4" else "auto",
    )


def _judge_row(fit: Fit) -> Outcome:
    if fit.fits:
        return "works"
    return "OOM" if fit.missing_gib_per_gpu.value else "bug"
