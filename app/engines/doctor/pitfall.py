"""What the doctor says: one pitfall, how bad it is, why, and what helps."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["stop", "warn", "note"]
"""It will not start, or not serve; it may burn later; worth knowing."""
_WORST_FIRST: tuple[Severity, ...] = ("stop", "warn", "note")


@dataclass(frozen=True)
class Pitfall:
    check: str
    """Its name, in kebab case."""
    severity: Severity
    engine: str
    """Empty where nobody said which engine it is."""
    says: str
    fix: str


@dataclass(frozen=True)
class Said:
    """A finding before it has its check and its engine."""

    severity: Severity
    says: str
    fix: str

    def of(self, check: str, engine: str) -> Pitfall:
        return Pitfall(check, self.severity, engine, self.says, self.fix)


def worst_first(findings: Iterable[Pitfall]) -> tuple[Pitfall, ...]:
    """Engines keep the order in which they were first spoken of."""
    told = tuple(findings)
    engines = list(dict.fromkeys(one.engine for one in told))
    return tuple(sorted(told, key=lambda one: (engines.index(one.engine), _WORST_FIRST.index(one.severity))))
