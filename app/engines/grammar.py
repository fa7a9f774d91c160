"""A JSON Schema as an engine's grammar can be made of it. What one engine cannot bind, it is asked without."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Lack = Literal["patterns", "lengths", "const"]

_LENGTHS = ("minLength", "maxLength")


@dataclass(frozen=True)
class Capability:
    """Something that a schema of ours may hold, and the smallest one that holds it."""

    lack: Lack
    schema: dict[str, Any]


def _of(field: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": field}, "required": ["x"], "additionalProperties": False}


PLAINEST = _of({"type": "boolean"})
"""What every grammar takes: an engine that refuses this refuses for another reason."""
CAPABILITIES = (
    Capability("patterns", _of({"type": "string", "pattern": r'^[^"\\\x00-\x1f\x7f]{0,8}$'})),
    Capability("lengths", _of({"type": "string", "maxLength": 8})),
    Capability("const", _of({"const": "x"})),
)


def bindable(schema: Any, lacks: frozenset[Lack] = frozenset()) -> Any:
    """Beside a length a pattern is refused (mlc-ai/xgrammar#966). The length stays: it is what ends a string."""
    if isinstance(schema, list):
        return [bindable(one, lacks) for one in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = isinstance(schema.get("pattern"), str) and any(key in schema for key in _LENGTHS)
    made = {key: bindable(value, lacks) for key, value in schema.items() if not (bounded and key == "pattern")}
    for lack in lacks:
        made = _WITHOUT[lack](made)
    return made


def _no_pattern(node: dict[str, Any]) -> dict[str, Any]:
    """The bound in the pattern becomes a length; what else it bound is read for and refused."""
    pattern = node.get("pattern")
    if not isinstance(pattern, str):
        return node
    ways = (sum(map(int, _MOST.findall(way))) for way in _WAY.findall(pattern))
    most = max(ways) if _WAYS.fullmatch(pattern) else _ANY_LENGTH
    rest = {key: value for key, value in node.items() if key != "pattern"}
    return {"maxLength": most} | rest


def _no_length(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in _LENGTHS or not isinstance(value, int)}


def _no_const(node: dict[str, Any]) -> dict[str, Any]:
    value = node.get("const")
    scalar = isinstance(value, str | int | bool)
    return {"enum": [value]} if scalar and len(node) == 1 else node


_ANY_LENGTH = 256
_MOST = re.compile(r"\{(?:\d+,)?(\d+)\}")
_SOME = r"(?:\[(?:\\.|[^\]\\])+\]\{(?:\d+,)?\d+\})+"
"""So many characters of a class, and so many more."""
_WAY = re.compile(_SOME)
_WAYS = re.compile(rf"\^(?:{_SOME}|\({_SOME}(?:\|{_SOME})*\))\$")
_WITHOUT: dict[Lack, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "patterns": _no_pattern,
    "lengths": _no_length,
    "const": _no_const,
}
