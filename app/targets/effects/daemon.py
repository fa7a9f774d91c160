"""A program of the host, as the policy sees it: which settings it would go by, and which of two values is stricter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from app.syntax.files import Files
from app.targets.confine import ProgramOutcome
from app.targets.effects.strength import Strength

UNSET = ""
"""The value of a setting on the side where it is not there, not even as a built-in default."""


@dataclass(frozen=True)
class Query:
    """A command to be run over a copy of some of the host's files, which is all of the host that it sees."""

    program: str
    """Where it lies, /usr/sbin/sshd."""
    arguments: tuple[str, ...]
    staged: tuple[str, ...]
    """Globs of what the program reads."""
    made: tuple[tuple[str, str], ...] = ()
    """Files laid beside them, path and content."""


Ask = Callable[[Files, Query], ProgramOutcome | None]
"""None where the program is not at hand, here or on the host."""


class Daemon(Protocol):
    name: str
    areas: tuple[str, ...]
    """What its paths begin with. A change elsewhere cannot alter what it goes by."""

    def settings(self, files: Files) -> Mapping[str, str]:
        """All that it would go by on such files, by key, in one spelling, built-in defaults and vendor files included.

        What holds for some only is a key of its own: "maxauthtries for address 192.168.0.0/16".
        """

    def said(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        """The same in the program's own words. None where it cannot be asked."""

    def order(self, key: str, was: str, now: str) -> Strength: ...


@runtime_checkable
class Comparing(Protocol):
    """A daemon for which some keys are there on one side alone: both sides are asked for those of both."""

    def between(self, before: Files, after: Files) -> Daemon: ...


Daemons = Sequence[Daemon]
