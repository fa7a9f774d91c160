"""Adapt a JSON Schema to an engine's grammar by removing the features that it does not support."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Lack = Literal["patterns", "lengths", "const"]

_LENGTHS = ("minLength", "maxLength")


@dataclass(frozen=True)
class Capability:
    """A schema feature that we use, and the smallest schema that has it."""

    lack: Lack
    schema: dict[str, Any]


def _of(field: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": field}, "required": ["x"], "additionalProperties": False}


PLAINEST = _of({"type": "boolean"})
"""Every grammar supports this schema: an engine that refuses it has another reason."""
CAPABILITIES = (
    Capability("patterns", _of({"type": "string", "pattern": r'^[^"\\\x00-\x1f\x7f]{0,8}$'})),
    Capability("lengths", _of({"type": "string", "maxLength": 8})),
    Capability("const", _of({"const": "x"})),
)


def bindable(schema: Any, lacks: frozenset[Lack] = frozenset()) -> Any:
    """Return the schema without unsupported features.

    xgrammar refuses a pattern beside a length (mlc-ai/xgrammar#966). The length stays because it ends the string."""
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
    """Replace the pattern by its maximum length; our own validation refuses answers that break the rest of it."""
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
"""One or more character classes, each with a repeat count."""
_WAY = re.compile(_SOME)
_WAYS = re.compile(rf"\^(?:{_SOME}|\({_SOME}(?:\|{_SOME})*\))\$")
_WITHOUT: dict[Lack, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "patterns": _no_pattern,
    "lengths": _no_length,
    "const": _no_const,
}
