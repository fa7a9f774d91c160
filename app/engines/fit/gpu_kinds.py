"""Known GPU kinds, with the memory that CUDA sees and its bandwidth."""

import re
from dataclasses import dataclass

from app.errors import BadInput
from app.lineups.model import Gpu


@dataclass(frozen=True)
class GpuKind:
    name: str
    title: str
    memory_gib: float
    """Total of cudaMemGetInfo, which vLLM uses; less than nvidia-smi shows."""
    bandwidth_gb_s: float
    words: str
    """Words that all occur in NVML's name of the GPU."""
    unified: bool = False


GPU_KINDS = (
    GpuKind("l4", "NVIDIA L4", 22.03, 300, "l4"),
    GpuKind("l40s", "NVIDIA L40S", 44.4, 864, "l40s"),
    GpuKind("a100-80", "NVIDIA A100-SXM4-80GB", 79.25, 2039, "a100 80gb"),
    GpuKind("h100", "NVIDIA H100 80GB HBM3", 79.19, 3350, "h100 hbm3"),
    GpuKind("h200", "NVIDIA H200", 139.8, 4800, "h200"),
    GpuKind("b200", "NVIDIA B200", 178.3, 8000, "b200"),
    GpuKind("rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 94.97, 1792, "rtx pro 6000"),
    GpuKind("gb10", "NVIDIA GB10", 119.7, 273, "gb10", unified=True),
)


def find_gpu_kind(name: str) -> GpuKind | None:
    """Find a GPU kind by its short name, or by its name in NVML or a line-up."""
    words = set(re.findall(r"[a-z0-9]+", name.lower()))
    for kind in GPU_KINDS:
        if name.strip().lower() == kind.name or words.issuperset(kind.words.split()):
            return kind
    return None


def parse_gpu_kind_colon_count(kind_colon_count: str, needed_indices: tuple[int, ...]) -> tuple[Gpu, ...]:
    """Parse text like `l4:4`, four L4. Without a number: as `needed_indices` says. Raise BadInput if invalid."""
    name, _, count = kind_colon_count.partition(":")
    if (kind := find_gpu_kind(name)) is None:
        known = ", ".join(kind.name for kind in GPU_KINDS)
        raise BadInput(f"No GPU is called {name!r}: choose one of {known}, with a number like l4:4.")
    if count and not (count.isascii() and count.isdigit() and len(count) <= 4 and 0 < int(count) <= 1024):
        raise BadInput(f"{kind_colon_count!r} should be a GPU and how many of them, like {kind.name}:2.")
    there = tuple(range(int(count))) if count else needed_indices
    if short := [index for index in needed_indices if index not in there]:
        raise BadInput(f"{kind_colon_count} has no GPU {short[0]}: ask for {kind.name}:{max(needed_indices) + 1}.")
    return tuple(Gpu(index, kind.title, kind.memory_gib, kind.bandwidth_gb_s, kind.unified) for index in there)


def limit_stated_gib_to_cuda_visible(gpu: Gpu) -> float:
    """Return the stated memory, limited to what CUDA sees: line-ups may state figures of nvidia-smi or a data sheet."""
    kind = find_gpu_kind(gpu.kind)
    return gpu.memory_gib if kind is None or kind.unified else min(gpu.memory_gib, kind.memory_gib)


def is_cpu(gpu: Gpu) -> bool:
    return gpu.kind.strip().lower() == "cpu"


def has_large_batches(gpu: Gpu) -> bool:
    """Return True for GPUs of at least 70 GiB except A100, which get larger default batches."""
    return limit_stated_gib_to_cuda_visible(gpu) >= 70 and "a100" not in gpu.kind.lower()
