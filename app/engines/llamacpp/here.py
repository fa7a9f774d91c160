"""What this machine has for llama.cpp: the package, the weights, a processor that its wheels run on, and memory."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from app.engines.llamacpp.weights import weights
from app.errors import BadInput

NEEDED = ("avx2", "f16c", "fma", "bmi2")
"""The wheels for x86-64 are built for these, and end with an illegal instruction without them."""
_GIB = 2**30


@dataclass(frozen=True)
class LlamacppHere:
    installed: bool = True
    lacks: tuple[str, ...] = ()
    """Of the instructions that it needs."""
    available_gib: float | None = None
    sizes_gib: Mapping[str, float] = field(default_factory=dict)
    """Of the weights, by the model's name or path."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why weights cannot be used, in a sentence."""


def look_for(models: Iterable[str], proc: Path = Path("/proc")) -> LlamacppHere:
    sizes, missing = dict[str, float](), dict[str, str]()
    for model in models:
        try:
            sizes[model] = weights(model).stat().st_size / _GIB
        except BadInput as exc:
            missing[model] = str(exc)
    return LlamacppHere(find_spec("xllamacpp") is not None, _lacks(proc), _available(proc), sizes, missing)


def _lacks(proc: Path) -> tuple[str, ...]:
    """Nothing where the kernel does not list them: it does on x86-64."""
    if platform.machine() != "x86_64":
        return ()
    flags = _line(proc / "cpuinfo", "flags").split()
    return tuple(one for one in NEEDED if one not in flags) if flags else ()


def _available(proc: Path) -> float | None:
    kib = _line(proc / "meminfo", "MemAvailable").split()
    return int(kib[0]) * 1024 / _GIB if kib else None


def _line(table: Path, name: str) -> str:
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2] for line in lines if line.startswith(name)), "")
