"""Results of the checks: a pitfall with its severity, reason and fix."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["stop", "warn", "note"]
"""stop: it will not start or serve; warn: it may fail later; note: for information."""
_WORST_FIRST: tuple[Severity, ...] = ("stop", "warn", "note")


@dataclass(frozen=True)
class Pitfall:
    check: str
    """Name of the check, in kebab case."""
    severity: Severity
    engine: str
    """Empty if the engine is unknown."""
    says: str
    fix: str


@dataclass(frozen=True)
class Diagnosis:
    """The result of one check, before its check and engine are added."""

    severity: Severity
    says: str
    fix: str

    def to_pitfall(self, check: str, engine: str) -> Pitfall:
        return Pitfall(check, self.severity, engine, self.says, self.fix)


def sort_worst_first(findings: Iterable[Pitfall]) -> tuple[Pitfall, ...]:
    """Sort by severity within each engine; engines keep the order of their first pitfall."""
    told = tuple(findings)
    engines = list(dict.fromkeys(one.engine for one in told))
    return tuple(sorted(told, key=lambda one: (engines.index(one.engine), _WORST_FIRST.index(one.severity))))
