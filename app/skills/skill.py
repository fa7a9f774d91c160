"""A skill is a folder that says what to harden: rules, each with its check."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.events.words import Category
from app.files import Files
from app.scanners.verdict import Verdict

Check = Callable[[Files], Verdict]


@dataclass(frozen=True)
class Rule:
    id: str
    """V-257985: stable over STIG releases."""
    stig_id: str
    """RHEL-09-255045."""
    category: Category
    title: str
    requirement: str
    fix: str
    paths: tuple[str, ...]
    """Files that decide the rule."""
    check: Check
    depends: tuple[str, ...] = ()
    irreversible: bool = False
    breaks: str = ""
    """What hardening it can break, in words; empty when nothing is known."""


@dataclass(frozen=True)
class Skill:
    name: str
    title: str
    rules: Mapping[str, Rule]
