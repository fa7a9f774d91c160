"""A JSON Schema as vLLM's grammars can be made of it: xgrammar refuses what it cannot bind."""

from typing import Any

_LENGTHS = ("minLength", "maxLength")


def bindable(schema: Any) -> Any:
    """A pattern beside a length is refused (mlc-ai/xgrammar#966). The length stays: it is what ends a string."""
    if isinstance(schema, list):
        return [bindable(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = isinstance(schema.get("pattern"), str) and any(key in schema for key in _LENGTHS)
    return {key: bindable(value) for key, value in schema.items() if not (bounded and key == "pattern")}
