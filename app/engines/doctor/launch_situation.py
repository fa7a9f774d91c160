"""The input of the checks for one engine: its resolved flags, its memory plan and this machine's inventory."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

from app.engines.doctor.engine_with_launch_flags import EffectiveEngine, read_flags, resolve_engine
from app.engines.doctor.files_and_environment_for_checks import LocalInventory
from app.engines.fit.estimate_result import Fit
from app.engines.fit.fit_verdict import Neighbors
from app.engines.fit.lineup_estimate import estimate_engine_beside_neighbors, estimate_neighbors_earlier_in_lineup
from app.engines.fit.memory_estimate import MemoryEstimate, estimate_memory
from app.engines.fit.vllm_versions import VllmRules, get_vllm_rules
from app.errors import BadInput
from app.lineups.model import Engine, Gpu, Lineup

BLACKWELL = re.compile(r"\b(?:blackwell|g?b[123]00|gb10|rtx 50\d\d)\b", re.IGNORECASE)
ADA = re.compile(r"\b(?:l4|l40s?|ada|rtx 40\d\d)\b", re.IGNORECASE)
"""GPUs of compute capability 8.9."""
GEMMA4_PARSER_FLAGS = ("--reasoning-parser gemma4", "--tool-call-parser gemma4", "--enable-auto-tool-choice")
"""Flags that vLLM needs to parse Gemma 4's reasoning and tool calls."""
NATIVE_FP4 = "FlashInferCutlassNvFp4LinearKernel"
"""Kernel that uses the FP4 cores of Blackwell, as vLLM logs it."""


@dataclass(frozen=True)
class Situation:
    effective: EffectiveEngine
    gpus: tuple[Gpu, ...]
    """GPUs of the first replica."""
    inventory: LocalInventory
    flags: Mapping[str, str]
    fit: Fit | None
    estimate: MemoryEstimate | None
    neighbors: Neighbors = field(default_factory=Neighbors)
    unknown: str = ""
    """Why no estimate is possible."""

    @property
    def engine(self) -> Engine:
        return self.effective.engine

    @cached_property
    def rules(self) -> VllmRules | None:
        """vLLM's rules, or None if the line-up states no valid version."""
        try:
            rules = get_vllm_rules(self.engine.vllm)
        except BadInput:
            return None
        return rules if rules.has_version else None

    def is_at_least(self, *version: int) -> bool:
        """Return True if the version is known and at least `version`."""
        return self.rules is not None and self.rules.version >= version

    def is_older_than(self, *version: int) -> bool:
        return self.rules is not None and self.rules.version < version

    @property
    def is_gemma4(self) -> bool:
        if self.estimate:
            return self.estimate.setting.shape.is_gemma4
        return re.search(r"gemma[-_]?4", self.engine.model, re.IGNORECASE) is not None

    @property
    def is_launched(self) -> bool:
        """True if Temper starts the engine, so that its flags are known."""
        return self.engine.launch is not None

    @property
    def is_engine_in_container(self) -> bool:
        return bool(self.engine.launch and self.engine.launch.image)

    @property
    def environment(self) -> Mapping[str, str]:
        launch = self.engine.launch
        if launch is None:
            return {}
        return launch.env if self.is_engine_in_container else {**self.inventory.environment, **launch.env}

    def all_gpus_match(self, pattern: re.Pattern[str]) -> bool:
        return bool(self.gpus) and all(pattern.search(gpu.kind) for gpu in self.gpus)

    def get_config(self, model: str) -> Mapping[str, Any]:
        return self.inventory.configs.get(model, {})


def format_missing_gemma4_flags(has_reasoning_parser: bool, has_tool_parser: bool, has_auto_choice: bool) -> str:
    """Return the missing ones of GEMMA4_PARSER_FLAGS."""
    lacks = (not has_reasoning_parser, not has_tool_parser, not has_auto_choice)
    return " ".join(compress(GEMMA4_PARSER_FLAGS, lacks))


def build_situations(lineup: Lineup, inventory: LocalInventory) -> tuple[Situation, ...]:
    settled = {name: resolve_engine(engine) for name, engine in lineup.engines.items()}
    as_started = replace(lineup, engines={name: one.engine for name, one in settled.items()})
    return tuple(_build_situation(as_started, one, inventory) for one in settled.values())


def _build_situation(lineup: Lineup, effective: EffectiveEngine, inventory: LocalInventory) -> Situation:
    engine = effective.engine
    known = {gpu.index: gpu for gpu in lineup.gpus}
    gpus = tuple(known[index] for index in engine.gpus[: engine.gpus_per_replica] if index in known)
    flags = read_flags(engine.launch.flags) if engine.launch else {}
    case = Situation(effective, gpus, inventory, flags, None, None)
    if len(gpus) < engine.gpus_per_replica:
        return case
    try:
        neighbors = estimate_neighbors_earlier_in_lineup(lineup, engine, inventory.programs)
        fit, estimate = (
            estimate_engine_beside_neighbors(lineup, engine, neighbors=neighbors),
            estimate_memory(engine, gpus),
        )
        return replace(case, fit=fit, estimate=estimate, neighbors=neighbors)
    except BadInput as exc:
        return replace(case, unknown=str(exc))
