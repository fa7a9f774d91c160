"""Which schemas of an OpenAPI description lead to which others."""

import json
import re
from typing import Any

_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


def find_used_schemas(parts: Any, schemas: dict[str, Any]) -> set[str]:
    """Return the names of the schemas that these parts of the description refer to, and those that these refer to."""
    found: set[str] = set()
    waiting = _REFERENCE.findall(json.dumps(parts))
    while waiting:
        name = waiting.pop()
        if name not in found and name in schemas:
            found.add(name)
            waiting += _REFERENCE.findall(json.dumps(schemas[name]))
    return found
