"""The hosts that there are, by name. The fixture is built in."""

from pathlib import Path

from app.errors import BadInput
from app.targets.fixture.target import FixtureTarget
from app.targets.target import Target

FIXTURE = "fixture"


def known_host(name: str) -> None:
    if name != FIXTURE:
        raise BadInput(f"there is no host {name!r}: the one that is built in is {FIXTURE!r}.")


def open_target(name: str, hosts: Path) -> Target:
    known_host(name)
    return FixtureTarget(name, hosts / name)
