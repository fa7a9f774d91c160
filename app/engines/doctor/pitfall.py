"""Results of the checks: a pitfall with its severity, reason and fix. The texts are in findings.toml."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

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


class _Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    severity: Severity
    says: str
    fix: str


def create_pitfall(finding_key: str, **values: object) -> Pitfall:
    """Fill values into a finding, named group.check or group.check.variant. The caller of the check adds the engine."""
    found = _load_findings()[finding_key]
    check = finding_key.split(".")[1]
    return Pitfall(check, found.severity, "", found.says.format(**values), found.fix.format(**values))


@cache
def _load_findings() -> dict[str, _Finding]:
    return msgspec.toml.decode(Path(__file__).with_name("findings.toml").read_bytes(), type=dict[str, _Finding])


def sort_by_engine_and_severity(findings: Iterable[Pitfall]) -> tuple[Pitfall, ...]:
    """Sort by severity within each engine; engines keep the order of their first pitfall."""
    pitfalls = tuple(findings)
    engines = list(dict.fromkeys(one.engine for one in pitfalls))
    return tuple(sorted(pitfalls, key=lambda one: (engines.index(one.engine), _WORST_FIRST.index(one.severity))))
