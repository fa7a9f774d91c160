"""Settings of configuration files, with their place."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    key: str
    value: str
    path: str
    line: int


@dataclass(frozen=True)
class BadSetting:
    """A line that the program would reject. `key` is empty if the structure is at fault."""

    text: str
    path: str
    line: int
    key: str = ""


def find_first(settings: Iterable[Setting], key: str) -> Setting | None:
    return next((s for s in settings if s.key == key), None)


def find_last(settings: Iterable[Setting], key: str) -> Setting | None:
    found = None
    for setting in settings:
        if setting.key == key:
            found = setting
    return found
