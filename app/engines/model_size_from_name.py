"""The size of a model in billions of parameters and its quantisation, by its name or by what a server calls it."""

import re
from pathlib import PurePosixPath

SMALL_BILLIONS = 4.0
"""Below this size a model chooses among what the rule and its files say."""
_SIZE = re.compile(r"(?<![\d.])(\d{1,4}(?:\.\d{1,2})?)\s*([bm])(?![a-z])", re.IGNORECASE)
_NOT_A_NAME = re.compile(r"[0-9a-f]{32,64}|snapshots|main", re.IGNORECASE)
"""Folders of a download cache below the one that is named after the model."""

_QUANTISATION = re.compile(
    r"(?<![a-z0-9])(I?Q\d(?:_[0-9A-Z]+)*|AWQ|GPTQ|NVFP4|MXFP4|FP8|INT[48]|BF16|FP16|F16)(?![a-z0-9])", re.IGNORECASE
)


def find_model_billions(name: str) -> float | None:
    """Return the size that the model's name gives, in billions of parameters; None if it gives none."""
    return max((float(size) / (1000 if unit.lower() == "m" else 1) for size, unit in _SIZE.findall(name)), default=None)


def find_billions_in_path(path: str) -> float | None:
    """Return the size that the name of the model's folder or file gives; None if it gives none."""
    names = (part for part in reversed(PurePosixPath(path).parts) if not _NOT_A_NAME.fullmatch(part))
    return find_model_billions(next(names, ""))


def is_small_model(billions: float | None) -> bool:
    return billions is not None and billions < SMALL_BILLIONS


def find_quantisation(name: str) -> str:
    """Return the quantisation that the model's name gives, as it is spelled there; empty if it gives none."""
    found = _QUANTISATION.search(name)
    return found[0] if found else ""
