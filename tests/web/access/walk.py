"""Every address of the application, from the application itself, with the right that it asks for."""

import re
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.routing import Mount

from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.main import create_app
from app.people.rights import find_access_needs
from app.web.access.right_check import find_handler

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@asynccontextmanager
async def application(data: Path, **settings):
    settings = Settings(data=data, speed=0, **settings)
    async with open_runtime(settings, load_lineup(settings)) as runtime:
        yield create_app(runtime)


async def addresses(data: Path):
    """The application's routes; nothing of what serves them is left."""
    async with application(data) as made:
        return made.routes


def lines(routes) -> list[str]:
    return sorted({line(method, route) for route in routes for method in methods(route)})


def methods(route):
    if isinstance(route, Mount):
        return ("GET",)
    return sorted(route.methods) if route.methods else ("*",)


def line(method, route):
    return f"{method:7}{route.path:48}{word(needs(route))}"


def name(route):
    return f"{' '.join(methods(route))} {route.path}"


def needs(route):
    return route.app.needs


def forgotten(route):
    return find_access_needs(route.app.app if isinstance(route, Mount) else find_handler(route)) is None


def word(needs):
    return f"{needs.right or 'open'}{', links' if needs.links else ''}"


def filled(path):
    return re.sub(r"\{[^}]*\}", "x", path)
