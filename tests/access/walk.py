"""Every address of the application, from the application itself, with the right that it asks for."""

import re
from pathlib import Path

from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from app.cli.opening import chosen_lineup, opened
from app.config import Settings
from app.main import create_app
from app.people.rights import needed

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


async def addresses(data: Path) -> list[tuple[str, str]]:
    settings = Settings(data=data, speed=0)
    async with opened(settings, chosen_lineup(settings)) as worker:
        return sorted(set(_walk(create_app(worker).routes)))


def line(method, path):
    return f"{method:7}{path:48}{needed(method, filled(path)) or 'open'}"


def filled(path):
    return re.sub(r"\{[^}]*\}", "x", path)


def _walk(routes):
    for found in iter_route_contexts(routes):
        if isinstance(found.route, Mount):
            yield "GET", f"{found.path}/x"
        else:
            yield from ((method, found.path) for method in found.methods or METHODS)
