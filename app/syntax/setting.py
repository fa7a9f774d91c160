"""Settings of configuration files, with their place."""

from collections.abc import Sequence
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

    def __str__(self) -> str:
        return f"{self.text} ({self.path} line {self.line})"


def find_last(settings: Sequence[Setting], key: str) -> Setting | None:
    return next((setting for setting in reversed(settings) if setting.key == key), None)
