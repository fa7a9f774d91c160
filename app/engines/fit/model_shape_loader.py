"""Find a model's shape, from its files or from the models known by name."""

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from app.engines.fit.checkpoint_config import build_shape, read_model_shape
from app.engines.fit.model_shape_types import ModelShape
from app.errors import BadInput

_DRAFTERS = ("assistant", "speculator", "eagle", "dflash", "drafter")


def load_model_shape(model: str) -> ModelShape:
    """Return the shape of a config folder or file, or of a known hub name. Raise BadInput if unknown."""
    if (path := Path(model)).exists():
        return read_model_shape(path)
    base, known = model.lower().rstrip("/").rpartition("/")[2].replace("_", "-"), _load_known_configs()
    name = next((name for name in known if base.startswith(name)), None)
    if name is None or any(word in base for word in _DRAFTERS):
        raise BadInput(
            f"The shape of {model!r} is not known here, and there is no such folder: "
            f"give the path of its config.json. Known by name: {', '.join(known)} and what was quantised from them."
        )
    return replace(build_shape(known[name], name), name=model)


@cache
def _load_known_configs() -> dict[str, dict[str, Any]]:
    known = tomllib.loads(Path(__file__).with_name("known_models.toml").read_text(encoding="utf-8"))
    configs = {}
    for name, parts in known["models"].items():
        sliding, times = parts["text"].pop("pattern")
        layers = [*["sliding_attention"] * sliding, "full_attention"] * times
        text = {**known["gemma4"], **parts.pop("text"), "layer_types": layers}
        configs[name] = {"model_type": "gemma4", "text_config": text, **parts}
    return configs
