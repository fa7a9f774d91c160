"""Inspect this machine for llama.cpp: package, weights, processor instructions and memory."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from app.engines.llamacpp.gguf_files import find_weights
from app.engines.proc_files import PROC, read_table_gib, read_table_text
from app.errors import BadInput

NEEDED = ("avx2", "f16c", "fma", "bmi2")
"""Instructions that the x86-64 wheels use; without them they end with an illegal instruction."""
_GIB = 2**30


@dataclass(frozen=True)
class LlamacppSupport:
    installed: bool = True
    lacks: tuple[str, ...] = ()
    available_gib: float | None = None
    sizes_gib: Mapping[str, float] = field(default_factory=dict)
    """Size of the weights by model name or path."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Sentence on why the weights cannot be used, by model name or path."""


def inspect_llamacpp(models: Iterable[str], proc: Path = PROC) -> LlamacppSupport:
    sizes, missing = dict[str, float](), dict[str, str]()
    for model in models:
        try:
            sizes[model] = find_weights(model).stat().st_size / _GIB
        except BadInput as exc:
            missing[model] = str(exc)
    return LlamacppSupport(
        find_spec("xllamacpp") is not None,
        _find_missing_instructions(proc),
        read_table_gib(proc / "meminfo", "MemAvailable"),
        sizes,
        missing,
    )


def _find_missing_instructions(proc: Path) -> tuple[str, ...]:
    """Return missing instructions; empty off x86-64, where the kernel does not list them."""
    if platform.machine() != "x86_64":
        return ()
    flags = read_table_text(proc / "cpuinfo", "flags").split()
    return tuple(one for one in NEEDED if one not in flags) if flags else ()
