"""Read the local files and environment that the checks need, once, before the checks run."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.engines.doctor.launch_flags import resolve_engine
from app.engines.llamacpp.machine_requirements import LlamacppSupport, inspect_llamacpp
from app.lineups.model import Engine, Lineup
from app.text.clean import read_with_excess_byte

_LARGEST = 4_000_000
_DRIVER = Path("/dev/nvidiactl")
TEMPLATE = "chat_template.jinja"


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


NOTHING = LocalInventory()


def inspect_machine(lineup: Lineup, environment: Mapping[str, str] = os.environ) -> LocalInventory:
    engines = [resolve_engine(engine).engine for engine in lineup.engines.values()]
    models = [name for engine in engines if engine.gpus for name in _iterate_models(engine)]
    templates = [engine.chat_template for engine in engines if engine.chat_template]
    return LocalInventory(
        templates={name: found for name in templates if (found := _hash_file(Path(name)))}
        | {name: found for name in models if (found := _hash_file(Path(name) / TEMPLATE))},
        configs={name: config for name in models if (config := _read_config(Path(name) / "config.json"))},
        environment=environment,
        llamacpp=inspect_llamacpp(one.model for one in engines if one.is_on_cpu),
        serves=_DRIVER.exists(),
    )


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
