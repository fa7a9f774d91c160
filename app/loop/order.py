"""Orders findings: dependencies first, irreversible ones last."""

import re
from collections.abc import Sequence
from graphlib import TopologicalSorter

from app.skills.skill import Skill

_BRINGS = re.compile(r"(?:.*_)?package_.+_installed")
"""ComplianceAsCode's rule ids; its rules state no dependencies."""


def sort_findings(findings: Sequence[str], skill: Skill) -> tuple[str, ...]:
    among = set(findings)
    sorter = TopologicalSorter({rule: among.intersection(skill.rules[rule].depends) for rule in findings})
    sorter.prepare()
    place = {rule: index for index, rule in enumerate(findings)}
    taken: list[str] = []
    ready: set[str] = set(sorter.get_ready())
    while ready:
        first = min(ready, key=lambda rule: (skill.rules[rule].irreversible, not _installs_package(rule), place[rule]))
        ready.remove(first)
        taken.append(first)
        sorter.done(first)
        ready.update(sorter.get_ready())
    return tuple(taken)


def _installs_package(rule: str) -> bool:
    """Return whether the rule installs a package, which rules about its files need first."""
    return _BRINGS.fullmatch(rule) is not None
