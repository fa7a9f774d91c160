"""Where pages and the API are, by the names of their routes. Paths alone: how the host is called, a proxy decides."""

import re
from collections.abc import Iterable
from urllib.parse import quote

from starlette.routing import BaseRoute, Mount, Route

_PART = re.compile(r"{(\w+)}")
_patterns: dict[str, tuple[str, frozenset[str]]] = {}
"""Looked up once a link, at the rate of a stream: a router would try its routes one by one."""


def learn(routes: Iterable[BaseRoute]) -> None:
    """GET and POST of one address may share its name; no other two may."""
    for route in routes:
        if isinstance(route, Route | Mount) and route.name:
            pattern = route.path_format if isinstance(route, Route) else f"{route.path}/{{path}}"
            if _patterns.setdefault(route.name, (pattern, frozenset(_PART.findall(pattern))))[0] != pattern:
                raise ValueError(f"two addresses are called {route.name!r}: {pattern} is the second")


def path_to(name: str, /, **parts: object) -> str:
    pattern, names = _patterns[name]
    if parts.keys() != names:
        raise TypeError(f"{pattern} takes {sorted(names)}, and was given {sorted(parts)}")
    return pattern.format(**{part: quote(str(value), safe="") for part, value in parts.items()}) if parts else pattern


def static(file: str) -> str:
    """A file of ours that a browser fetches."""
    return _patterns["static"][0].format(path=quote(file))
