"""Decide whether an engine fits, and explain what to change if it does not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from app.engines.fit.memory_estimate import MemoryEstimate
from app.engines.fit.model_shape_types import ModelShape
from app.engines.fit.resolved_settings import GIB

SAFE = 0.95
"""Safe share of the longest context: at the limit an engine starts only sometimes."""
TIGHT_GIB = 1.5
TRIED = (2, 4, 8)
POWERS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class ProgramsOnGpu:
    """Programs other than the line-up's engines that hold memory of one GPU now."""

    names: tuple[str, ...]
    held_gib: float


@dataclass(frozen=True)
class Neighbors:
    """Engines that start earlier on the same GPUs, and other programs there."""

    engines: tuple[str, ...] = ()
    held_gib: float = 0
    """Memory on the GPU where they hold most."""
    programs: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.engines, *self.programs)


@dataclass(frozen=True)
class FitVerdict:
    fits: bool
    missing_gib: float
    says: str


def judge_fit(memory: MemoryEstimate, neighbors: Neighbors, with_tp: Callable[[int], MemoryEstimate]) -> FitVerdict:
    if refusal := next(find_refused_settings(memory), None):
        return FitVerdict(fits=False, missing_gib=0, says=f"{refusal.says}, and vLLM refuses: {refusal.fix}.")
    if verdict := _find_memory_shortage(memory, neighbors):
        return _add_advice(verdict, memory, with_tp)
    if sentence := _explain_gemma4_pipeline_crash(memory):
        return FitVerdict(fits=False, missing_gib=0, says=sentence)
    return FitVerdict(fits=True, missing_gib=0, says=_describe_fit(memory, neighbors))


@dataclass(frozen=True)
class RefusedSetting:
    """A setting that vLLM refuses, whatever the memory."""

    setting: Literal["tp", "pp", "max_model_len"]
    says: str
    fix: str


def find_refused_settings(memory: MemoryEstimate) -> Iterator[RefusedSetting]:
    shape, tp, pp = memory.setting.shape, memory.setting.split.tp, memory.setting.split.pp
    if heads := _describe_undivided_heads(shape, tp):
        below = [number for number in POWERS if number < tp and not _describe_undivided_heads(shape, number)]
        yield RefusedSetting("tp", f"tp = {tp} does not divide the model's {heads}", f"set tp = {below[-1]}")
    if pp > len(shape.layers):
        says = f"pp = {pp} is more than the model's {len(shape.layers)} layers"
        yield RefusedSetting("pp", says, "use fewer stages, or tp instead")
    if (length := memory.setting.max_model_len) > shape.positions:
        says = f"max_model_len = {length:,} is more than the model's {shape.positions:,} positions"
        yield RefusedSetting("max_model_len", says, f"set max_model_len = {shape.positions} or less")


def _describe_undivided_heads(shape: ModelShape, tp: int) -> str:
    """Describe the heads that `tp` does not divide, or return "". vLLM repeats key and value heads that are fewer."""
    if shape.heads % tp:
        return f"{shape.heads} attention heads"
    uneven = [layer.kv_heads for layer in shape.layers if max(layer.kv_heads, tp) % min(layer.kv_heads, tp)]
    return f"{min(uneven)} key and value heads" if uneven else ""


def _find_memory_shortage(memory: MemoryEstimate, neighbors: Neighbors) -> FitVerdict | None:
    shortage = _find_neighbor_shortage(memory, neighbors) or _find_pool_shortage(memory)
    return shortage or _find_total_shortage(memory, neighbors)


def _find_neighbor_shortage(memory: MemoryEstimate, neighbors: Neighbors) -> FitVerdict | None:
    setting = memory.setting
    missing = setting.share_gib + neighbors.held_gib - setting.gpu_gib
    if not neighbors.names or missing <= 0:
        return None
    says = (
        f"Shares a GPU with {', '.join(neighbors.names)}: {neighbors.held_gib:.1f} of {setting.gpu_gib:.1f} GiB are "
        f"taken, and vLLM wants {setting.utilization:g} of all the memory free when it starts. "
    )
    left = max(0.0, 1 - neighbors.held_gib / setting.gpu_gib)
    change = "End what else runs there, or lower the utilization" if neighbors.programs else "Lower the utilization"
    whose = " of both" if neighbors.engines else ""
    return FitVerdict(False, missing, f"{says}{change}{whose}, here to {left:.2f} at most.")


def _find_pool_shortage(memory: MemoryEstimate) -> FitVerdict | None:
    setting, missing = memory.setting, memory.kv_pool_gib_for_longest_request - memory.left_for_pool_gib
    if missing <= 0:
        return None
    if (longest := memory.largest_context) > 0:
        says = (
            f"Lacks {missing:.2f} GiB per GPU of KV cache for one request of {setting.max_model_len:,} tokens: "
            f"set max_model_len to {int(longest * SAFE):,} (at the very edge {longest:,} would start)."
        )
    else:
        says = (
            f"Lacks {missing:.1f} GiB per GPU: {memory.weights_gib:.1f} GiB of weights and "
            f"{memory.profiled_beside_weights_gib:.1f} of activations and graphs, "
            f"where vLLM may use {setting.share_gib:.1f} of {setting.gpu_gib:.1f} GiB."
        )
    return FitVerdict(False, missing, says)


def _find_total_shortage(memory: MemoryEstimate, neighbors: Neighbors) -> FitVerdict | None:
    setting = memory.setting
    held = memory.held_gib + neighbors.held_gib
    if held <= setting.gpu_gib:
        return None
    change = "--kv-cache-memory-bytes" if setting.kv_cache_bytes is not None else "the utilization"
    says = (
        f"Starts to load and then lacks {held - setting.gpu_gib:.1f} GiB per GPU: {held:.1f} GiB would be held of "
        f"{setting.gpu_gib:.1f}. Lower {change}, or leave CUDA graphs out."
    )
    return FitVerdict(False, held - setting.gpu_gib, says)


def _add_advice(verdict: FitVerdict, memory: MemoryEstimate, with_tp: Callable[[int], MemoryEstimate]) -> FitVerdict:
    if memory.largest_context > 0:
        return verdict
    for tp in TRIED:
        if tp > memory.setting.split.tp and _would_fit(with_tp(tp)):
            return replace(verdict, says=f"{verdict.says} tp = {tp} would fit.")
    return replace(verdict, says=f"{verdict.says} Choose a smaller model, fewer bits or larger GPUs.")


def _would_fit(memory: MemoryEstimate) -> bool:
    return next(find_refused_settings(memory), None) is None and _find_memory_shortage(memory, Neighbors()) is None


def _explain_gemma4_pipeline_crash(memory: MemoryEstimate) -> str:
    setting, version = memory.setting, memory.setting.rules.name
    if setting.shape.is_gemma4 and setting.split.pp > 1 and not setting.rules.gemma4_has_pipelines:
        return f"Has the memory, but Gemma 4 with pp > 1 crashes in {version} (IntermediateTensors): use 0.22, or tp."
    return ""


def _describe_fit(memory: MemoryEstimate, neighbors: Neighbors) -> str:
    setting, length = memory.setting, memory.setting.max_model_len
    streams = memory.cache.compute_concurrency(memory.left_for_pool_gib * GIB, length)
    words = f"Fits. {memory.pool_gib:.1f} GiB of KV cache per GPU hold {streams:.1f} requests of {length:,} tokens."
    free = setting.gpu_gib - memory.held_gib - neighbors.held_gib
    if free < TIGHT_GIB and not setting.cpu:
        words += f" Tight: {free:.1f} GiB of {setting.gpu_gib:.1f} stay free, and activations come and go in them."
    if setting.unified:
        words += " The memory is the host's own: what else runs there takes of it."
    if neighbors.names:
        words += f" Shares a GPU with {', '.join(neighbors.names)}."
    return words
