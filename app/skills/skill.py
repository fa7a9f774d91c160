"""A skill is a folder that says what to harden: rules, each with its check."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.events.words import Category, Mode
from app.scanners.openscap.content import Content
from app.scanners.verdict import Verdict
from app.syntax.files import Files

Check = Callable[[Files], Verdict]


@dataclass(frozen=True)
class Rule:
    id: str
    """V-257985: stable over STIG releases."""
    stig_id: str
    """RHEL-09-255045; of a data stream's rule, its id in full."""
    category: Category
    title: str
    requirement: str
    fix: str
    paths: tuple[str, ...]
    """Files that decide the rule."""
    check: Check
    depends: tuple[str, ...] = ()
    asks: frozenset[str] = frozenset()
    """Settings that it wants though their order is open: "sshd clientaliveinterval 600" (targets/effects)."""
    irreversible: bool = False
    breaks: str = ""
    """What hardening it can break, in words; empty when nothing is known."""
    foreign: bool = False
    """Its words are those of content that somebody else wrote."""
    script: bool = False
    """`fix` is a script: it is read, and never run."""


@dataclass(frozen=True)
class Skill:
    name: str
    title: str
    rules: Mapping[str, Rule]
    mode: Mode | None = None
    """The only mode that it is run in; None is any."""
    content: Content | None = None
    """What OpenSCAP is to be asked, where the rules have no checks of our own."""
