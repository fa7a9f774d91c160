"""Convert an answer to fit a JSON Schema, like an engine's grammar."""

import re
from typing import Any, Final

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_SAMPLES = ("", "none", "/none", "0", "0644", "V-000000")
_NOTHING: Final = object()
_REPEATED, _MOST_REPEATED = re.compile(r"\{(?:\d*,)?(\d+)\}"), 128

Schema = dict[str, Any]


class BadSchema(Exception):
    pass


def check_schema(schema: object) -> None:
    """Raise BadSchema if no grammar can be made of the schema."""
    if not isinstance(schema, dict):
        raise BadSchema("the schema is not an object")
    try:
        _check_node(schema, schema)
    except (AttributeError, TypeError, RecursionError) as exc:
        raise BadSchema("the schema is not a JSON Schema") from exc


def fit_to_schema(schema: Schema, wanted: Any = _NOTHING) -> Any:
    return _fit_value(schema, wanted, schema)


def _check_node(node: Any, root: Schema) -> None:
    if isinstance(node, bool):
        return
    if not isinstance(node, dict):
        raise BadSchema(f"a schema should be an object, not {node!r}"[:200])
    for kind in _list_types(node):
        if kind not in _TYPES:
            raise BadSchema(f"Unsupported type {kind!r}"[:200])
    if "$ref" in node:
        _resolve_reference(node, root)
    if "pattern" in node:
        _compile_pattern_or_refuse(node["pattern"])
        if "minLength" in node or "maxLength" in node:
            raise BadSchema("pattern beside a length is a feature not supported by xgrammar")
    for child in _list_children(node):
        _check_node(child, root)


def _list_children(node: Schema) -> list[Any]:
    properties = node.get("properties", {})
    if not isinstance(properties, dict):
        raise BadSchema("properties should be an object")
    listed = [child for key in ("anyOf", "oneOf", "allOf") for child in node.get(key, [])]
    items = [node["items"]] if "items" in node else []
    return [*properties.values(), *listed, *node.get("$defs", {}).values(), *items]


def _list_types(node: Schema) -> list[Any]:
    kind = node.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _compile_pattern_or_refuse(pattern: object) -> re.Pattern[str]:
    if any(int(most) > _MOST_REPEATED for most in _REPEATED.findall(str(pattern))):
        raise BadSchema("xgrammar 0.2.8 makes no grammar of a pattern that repeats something more than 128 times")
    try:
        return re.compile(str(pattern))
    except re.error as exc:
        raise BadSchema(f"pattern {pattern!r} is not a regular expression: {exc}") from exc


def _resolve_reference(node: Schema, root: Schema) -> Schema:
    for _ in range(32):
        if "$ref" not in node:
            return node
        found: Any = root
        for part in str(node["$ref"]).removeprefix("#").strip("/").split("/"):
            found = found.get(part) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            break
        node = found
    raise BadSchema(f"Cannot find {node['$ref']}")


def _fit_value(node: Schema, wanted: Any, root: Schema) -> Any:
    node = _resolve_reference(node, root)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return wanted if wanted in node["enum"] else node["enum"][0]
    if branches := node.get("anyOf") or node.get("oneOf"):
        return _choose_best([_fit_value(branch, wanted, root) for branch in branches], wanted)
    kinds = _list_types(node)
    if len(kinds) > 1:
        return _choose_best([_fit_value({**node, "type": kind}, wanted, root) for kind in kinds], wanted)
    match kinds[0] if kinds else "":
        case "object":
            return _fit_object_to_schema(node, wanted if isinstance(wanted, dict) else {}, root)
        case "array":
            return _fit_array(node, list(wanted) if isinstance(wanted, list | tuple) else [], root)
        case "string":
            return _fit_string(node, wanted if isinstance(wanted, str) else "")
        case "integer" | "number" as kind:
            return _fit_number(node, wanted, whole=kind == "integer")
        case "boolean":
            return wanted if isinstance(wanted, bool) else False
        case "null":
            return None
    return {} if wanted is _NOTHING else wanted


def _choose_best(fitted_values: list[Any], wanted: Any) -> Any:
    """Return the branch that keeps most of the wanted value."""

    def count_kept(one: Any) -> float:
        if one == wanted:
            return float("inf")
        if isinstance(one, dict) and isinstance(wanted, dict):
            return sum(1 for key, value in one.items() if wanted.get(key, _NOTHING) == value)
        return 0

    return max(fitted_values, key=count_kept)


def _fit_object_to_schema(object_schema: Schema, wanted_properties: Schema, root: Schema) -> Schema:
    required = object_schema.get("required", [])
    return {
        name: _fit_value(schema, wanted_properties.get(name, _NOTHING), root)
        for name, schema in object_schema.get("properties", {}).items()
        if name in wanted_properties or name in required
    }


def _fit_array(node: Schema, wanted: list[Any], root: Schema) -> list[Any]:
    least, most = node.get("minItems", 0), node.get("maxItems", len(wanted))
    wanted = [*wanted[:most], *[_NOTHING] * (least - len(wanted))]
    return [_fit_value(node.get("items", {}), one, root) for one in wanted]


def _fit_string(node: Schema, wanted: str) -> str:
    least, most = node.get("minLength", 0), node.get("maxLength", max(len(wanted), 64))
    pattern = _compile_pattern_or_refuse(node.get("pattern", ""))
    for text in (wanted, *_SAMPLES):
        fitting = text[:most].ljust(least, "x")
        if pattern.search(fitting):
            return fitting
    return wanted[:most]


def _fit_number(node: Schema, wanted: Any, *, whole: bool) -> float:
    number = wanted if isinstance(wanted, int | float) and not isinstance(wanted, bool) else 0
    number = min(max(number, node.get("minimum", number)), node.get("maximum", float("inf")))
    return int(number) if whole else number
