"""Build URL paths from route names, and redirects to them. Paths hold no host name: a proxy decides that."""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route

_PART = re.compile(r"{(\w+)}")
_patterns: dict[str, tuple[str, frozenset[str]]] = {}
"""Path format and parameter names per route name. A dict lookup, because streams build many links."""


def register_routes(routes: Iterable[BaseRoute]) -> None:
    """Record the path of every named route. Raise ValueError if two different paths share a name."""
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


def redirect_to(name: str, /, **parts: object) -> RedirectResponse:
    """Send the browser to a page after a form."""
    return RedirectResponse(path_to(name, **parts), status_code=303)


def redirect_to_run_or_route(run: str, route_without_run: str) -> RedirectResponse:
    """Send the browser to the run from whose page the form came; to the page `route_without_run` if `run` is empty."""
    return redirect_to("run", run=run) if run else redirect_to(route_without_run)


def redirect_back(request: Request, list_routes: Iterable[str], other_path: str) -> RedirectResponse:
    """Send the browser back to the list page that had the form, or to the path `other_path`."""
    came_from = urlsplit(request.headers.get("referer", "")).path
    there = next((place for place in map(path_to, list_routes) if came_from.endswith(place)), other_path)
    return RedirectResponse(there, status_code=303)


def path_to_unversioned_static_file(file: str) -> str:
    """Return the path of a static file."""
    return _patterns["static"][0].format(path=quote(file))
