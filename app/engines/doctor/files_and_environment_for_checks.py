"""Read the local files and environment that the checks need, once, before the checks run."""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.engines.doctor.engine_with_launch_flags import resolve_engine
from app.engines.fit.fit_verdict import ProgramsOnGpu
from app.engines.llamacpp.gguf_weights_file_lookup import require_weights_file
from app.engines.proc_files import PROC, find_gib_in_table, read_value_after_colon
from app.errors import BadInput
from app.lineups.model import Engine, Lineup
from app.text.clean import read_with_excess_byte

_LARGEST = 4_000_000
_DRIVER = Path("/dev/nvidiactl")
TEMPLATE = "chat_template.jinja"
NEEDED = ("avx2", "f16c", "fma", "bmi2")
"""Instructions that the x86-64 wheels use; without them they end with an illegal instruction."""


@dataclass(frozen=True)
class LlamacppSupport:
    installed: bool = True
    lacks: tuple[str, ...] = ()
    available_gib: float | None = None
    sizes_gib: Mapping[str, float] = field(default_factory=dict)
    """Size of the weights by model name or path."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Sentence on why the weights cannot be used, by model name or path."""


@dataclass(frozen=True)
class LocalInventory:
    templates: Mapping[str, str] = field(default_factory=dict)
    """sha256 by path; a checkpoint's own template by its folder."""
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """config.json by the folder that a line-up uses as a model."""
    environment: Mapping[str, str] = field(default_factory=dict)
    llamacpp: LlamacppSupport = field(default_factory=LlamacppSupport)
    serves: bool = False
    """True if there is a GPU driver: this is assumed to be the engines' machine."""
    programs: Mapping[int, ProgramsOnGpu] = field(default_factory=dict)
    """What holds memory of the line-up's GPUs, beside its engines."""


NOTHING = LocalInventory()


def inspect_model_files_and_environment(lineup: Lineup, environment: Mapping[str, str] = os.environ) -> LocalInventory:
    engines = [resolve_engine(engine).engine for engine in lineup.engines.values()]
    models = [name for engine in engines if engine.gpus for name in _iterate_models(engine)]
    templates = [engine.chat_template for engine in engines if engine.chat_template]
    return LocalInventory(
        templates={name: found for name in templates if (found := _hash_file(Path(name)))}
        | {name: found for name in models if (found := _hash_file(Path(name) / TEMPLATE))},
        configs={name: config for name in models if (config := _read_config(Path(name) / "config.json"))},
        environment=environment,
        llamacpp=inspect_machine_and_weights_for_llamacpp(one.model for one in engines if one.is_on_cpu),
        serves=_DRIVER.exists(),
    )


def inspect_machine_and_weights_for_llamacpp(models: Iterable[str], proc: Path = PROC) -> LlamacppSupport:
    sizes, missing = dict[str, float](), dict[str, str]()
    for model in models:
        try:
            sizes[model] = require_weights_file(model).stat().st_size / 2**30
        except BadInput as exc:
            missing[model] = str(exc)
    installed, available = find_spec("xllamacpp") is not None, find_gib_in_table(proc / "meminfo", "MemAvailable")
    return LlamacppSupport(installed, _find_missing_instructions(proc), available, sizes, missing)


def _find_missing_instructions(proc: Path) -> tuple[str, ...]:
    """Return missing instructions; empty off x86-64, where the kernel does not list them."""
    if platform.machine() != "x86_64":
        return ()
    flags = read_value_after_colon(proc / "cpuinfo", "flags").split()
    return tuple(one for one in NEEDED if one not in flags) if flags else ()


def _iterate_models(engine: Engine) -> Iterator[str]:
    yield engine.model
    if engine.speculation and engine.speculation.model:
        yield engine.speculation.model


def _hash_file(path: Path) -> str:
    raw = _read_small_file(path)
    return "" if raw is None else hashlib.sha256(raw).hexdigest()


def _read_config(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_read_small_file(path) or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_small_file(path: Path) -> bytes | None:
    """Return a file's bytes, or None if it is missing, unreadable or too large."""
    try:
        raw = read_with_excess_byte(path, _LARGEST) if path.is_file() else None
    except (OSError, ValueError):
        return None
    return raw if raw is not None and len(raw) <= _LARGEST else None
