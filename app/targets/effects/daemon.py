"""The Daemon protocol: which settings a program would use on given files, and which of two values is stricter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from app.syntax.files import Files
from app.targets.confinement import ProgramOutcome
from app.targets.effects.strength import Strength

UNSET = ""
"""The value of a setting that is absent, with no built-in default."""


@dataclass(frozen=True)
class Query:
    """A command to run on a copy of some of the host's files; it sees no other file of the host."""

    program: str
    """The program's path, for example /usr/sbin/sshd."""
    arguments: tuple[str, ...]
    staged: tuple[str, ...]
    """Globs of the files that the program reads."""
    made: tuple[tuple[str, str], ...] = ()
    """Additional files: path and content."""


Ask = Callable[[Files, Query], ProgramOutcome | None]
"""Runs a query on files; returns None if the program is available neither here nor on the host."""


class Daemon(Protocol):
    name: str
    areas: tuple[str, ...]
    """Prefixes of its paths; a change elsewhere cannot affect it."""

    def read_settings(self, files: Files) -> Mapping[str, str]:
        """Return all settings on these files by key, normalized, with built-in defaults and vendor files.

        A conditional setting is a key of its own: "maxauthtries for address 192.168.0.0/16".
        """

    def ask_settings(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        """Return the settings as the program itself prints them; None if it cannot be asked."""

    def compare_values(self, key: str, was: str, now: str) -> Strength: ...


@runtime_checkable
class PairedDaemon(Protocol):
    """A daemon with keys that exist on one side only: it reads the keys of both sides on each."""

    def with_both_sides(self, before: Files, after: Files) -> Daemon: ...


Daemons = Sequence[Daemon]
