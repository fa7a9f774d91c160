"""Adapt a JSON Schema to an engine's grammar by removing the features that it does not support."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Lack = Literal["patterns", "lengths", "const"]

_LENGTHS = ("minLength", "maxLength")


@dataclass(frozen=True)
class GrammarFeature:
    """A schema feature that we use, and the smallest schema that has it."""

    lack: Lack
    schema: dict[str, Any]


def _build_schema_of_object_with_one_property(property_schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": property_schema}, "required": ["x"], "additionalProperties": False}


PLAINEST = _build_schema_of_object_with_one_property({"type": "boolean"})
"""Every grammar supports this schema: an engine that refuses it has another reason."""
CAPABILITIES = (
    GrammarFeature(
        "patterns",
        _build_schema_of_object_with_one_property({"type": "string", "pattern": r'^[^"\\\x00-\x1f\x7f]{0,8}$'}),
    ),
    GrammarFeature("lengths", _build_schema_of_object_with_one_property({"type": "string", "maxLength": 8})),
    GrammarFeature("const", _build_schema_of_object_with_one_property({"const": "x"})),
)


def to_bindable_schema(schema: Any, lacks: frozenset[Lack] = frozenset()) -> Any:
    """Return the schema without unsupported features.

    xgrammar refuses a pattern beside a length (mlc-ai/xgrammar#966). The length stays because it ends the string."""
    if isinstance(schema, list):
        return [to_bindable_schema(one, lacks) for one in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = isinstance(schema.get("pattern"), str) and any(key in schema for key in _LENGTHS)
    kept = (key for key in schema if key != "pattern" or not bounded)
    made = {key: to_bindable_schema(schema[key], lacks) for key in kept}
    for lack, remove in _WITHOUT.items():  # in this order: what replaces a pattern is a length
        made = remove(made) if lack in lacks else made
    return made


def _replace_pattern_by_length(node: dict[str, Any]) -> dict[str, Any]:
    """Replace the pattern by its maximum length; our own validation refuses answers that break the rest of it."""
    pattern = node.get("pattern")
    if not isinstance(pattern, str):
        return node
    ways = (sum(map(int, _MOST.findall(way))) for way in _WAY.findall(pattern))
    most = max(ways) if _WAYS.fullmatch(pattern) else _ANY_LENGTH
    rest = {key: value for key, value in node.items() if key != "pattern"}
    return {"maxLength": most} | rest


def _drop_string_lengths(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in _LENGTHS or not isinstance(value, int)}


def _replace_const(node: dict[str, Any]) -> dict[str, Any]:
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
    "patterns": _replace_pattern_by_length,
    "lengths": _drop_string_lengths,
    "const": _replace_const,
}
