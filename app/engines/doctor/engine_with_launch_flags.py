"""Flags of a launch section. They follow those made from the line-up's fields, and vLLM uses the last one."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from app.lineups.model import Engine, Speculation

_SHORT = {"-tp": "--tensor-parallel-size", "-pp": "--pipeline-parallel-size", "-sc": "--speculative-config"}
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_LARGEST = 1e15
_MEDIA = ("image", "video", "audio")


def read_flags(arguments: tuple[str, ...]) -> dict[str, str]:
    """Return flag values by name, with dashes for underscores as in vLLM; the value is empty if there is none."""
    found: dict[str, str] = {}
    name = ""
    for word in arguments:
        if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word):
            name, equals, value = word.partition("=")
            name = _SHORT.get(name, name.replace("_", "-"))
            found[name] = value
            name = "" if equals else name
        elif name:
            found[name] = f"{found[name]} {word}".strip()
    return found


@dataclass(frozen=True)
class EffectiveEngine:
    """An engine with its launch flags applied, as vLLM sees it."""

    engine: Engine
    overridden: tuple[str, ...] = ()
    """Flags that contradict the line-up's own field."""
    unreadable: tuple[str, ...] = ()


def resolve_engine(engine: Engine) -> EffectiveEngine:
    if engine.launch is None:
        return EffectiveEngine(engine)
    flags, changes = read_flags(engine.launch.flags), dict[str, Any]()
    unreadable = []
    for flag, (field, parse) in _FIELDS.items():
        if flag in flags:
            try:
                changes[field] = parse(flags[flag])
            except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
                unreadable.append(flag)
    if _do_media_limits_allow_none(flags.get("--limit-mm-per-prompt", "")):
        changes["text_only"] = True
    read = [(flag, field) for flag, (field, _) in _FIELDS.items() if flag in flags and field in changes]
    # Plan, probe and page use the field, set or default.
    overridden = tuple(flag for flag, field in read if getattr(engine, field) != changes[field])
    return EffectiveEngine(replace(engine, **changes), overridden, tuple(unreadable))


def _parse_positive_number(text: Any, parse: Callable[[Any], float]) -> Any:
    number = parse(text)
    if not 0 < number < _LARGEST:
        raise ValueError
    return number


def _require_share_above_zero(text: str) -> Any:
    if (number := _parse_positive_number(text, float)) > 1:
        raise ValueError
    return number


def _parse_token_count_with_optional_unit(text: str) -> int:
    """Parse a length as vLLM does: 32k is 32,000 and 32K is 32,768."""
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)([kmgKMG])", text):
        return int(_parse_positive_number(found[1], float) * _UNITS[found[2]])
    return int(_parse_positive_number(text, int))


def _parse_speculation(text: str) -> Speculation:
    said = json.loads(text)
    if not isinstance(said, Mapping):
        raise TypeError
    return Speculation(
        method=str(said.get("method", "")),
        model=str(said.get("model", "")),
        tokens=_parse_positive_number(said.get("num_speculative_tokens", 1), int),
        parallel_drafting=said.get("parallel_drafting") is True,
    )


def _do_media_limits_allow_none(text: str) -> bool:
    """Return True if each kind of media has the limit 0: vLLM accepts 999 of a kind that is left out."""
    try:
        limits = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(limits, dict) and all(limits.get(kind) == 0 for kind in _MEDIA)


def _parse_switch_on_unless_false(text: str) -> bool:
    return text.lower() != "false"


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--tensor-parallel-size": ("tp", partial(_parse_positive_number, parse=int)),
    "--pipeline-parallel-size": ("pp", partial(_parse_positive_number, parse=int)),
    "--max-model-len": ("max_model_len", _parse_token_count_with_optional_unit),
    "--gpu-memory-utilization": ("utilization", _require_share_above_zero),
    "--kv-cache-memory-bytes": ("kv_cache_bytes", _parse_token_count_with_optional_unit),
    "--max-num-seqs": ("max_num_seqs", partial(_parse_positive_number, parse=int)),
    "--max-num-batched-tokens": ("max_num_batched_tokens", _parse_token_count_with_optional_unit),
    "--kv-cache-dtype": ("kv_dtype", str),
    "--chat-template": ("chat_template", str),
    "--speculative-config": ("speculation", _parse_speculation),
    "--enforce-eager": ("eager", _parse_switch_on_unless_false),
    "--language-model-only": ("text_only", _parse_switch_on_unless_false),
}
