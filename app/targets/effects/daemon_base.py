"""The base class Daemon: which settings a program would use on given files, and which of two values is stricter."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from app.resources.kind import Objection
from app.syntax.host_files_protocol import Files
from app.targets.effects.strictness_comparison import Compare, Strength, compare_unranked
from app.targets.program_sandbox import ProgramOutcome

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


class Daemon(ABC):
    """A program whose settings a change may weaken."""

    name: str
    areas: tuple[str, ...]
    """Prefixes of its paths; a change elsewhere cannot affect it."""
    scales: ClassVar[Mapping[str, Compare]] = {}
    """How to compare the values of a key; a key without a scale may not change."""
    asked_only_if_unranked: ClassVar[bool] = False
    """Whether a rule may ask only for values that no scale ranks; a ranked value never gets weaker."""
    paired: bool = False
    """Whether some keys exist on one side only, so that the keys of both sides are read on each."""

    @abstractmethod
    def read_settings(self, files: Files) -> Mapping[str, str]:
        """Return all settings on these files by key, normalized, with built-in defaults and vendor files.

        A conditional setting is a key of its own: "maxauthtries for address 192.168.0.0/16".
        """

    def ask_settings(self, files: Files, run_query: Ask) -> Mapping[str, str] | None:  # noqa: ARG002
        """Return the settings as the program itself prints them; None if it cannot be asked."""
        return None

    def find_load_objection(self, before: Files, after: Files) -> Objection | None:  # noqa: ARG002
        """Return the objection to files that the program would load only in part; None for most programs."""
        return None

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        return self.scales.get(key, compare_unranked)(was, now)

    def create_settings_reader_for_change(self, before: Files, after: Files) -> "Daemon":  # noqa: ARG002
        """Return the daemon that reads either side of a change."""
        return self
