"""Create a host's scanner: the built-in checks, or OpenSCAP if the skill comes from a data stream."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from app.errors import BadInput, Unusable
from app.scanners.builtin import Builtin
from app.scanners.openscap.local import TreeShell
from app.scanners.openscap.scanner import OpenScap
from app.scanners.openscap.shell import Shell
from app.scanners.scanner import Scanner
from app.skills.skill import Skill
from app.targets.registry import is_fixture
from app.targets.target import Target

REMOTE = "/var/cache/temper/scap"


@runtime_checkable
class Reached(Protocol):
    """A target whose host can run commands."""

    @property
    def shell(self) -> Shell: ...


def scanner_for(skill: Skill, target: Target, hosts: Path) -> Scanner:
    if skill.content is None:
        return Builtin({rule.id: rule.check for rule in skill.rules.values()})
    shell, folder = _shell(target, hosts)
    return OpenScap(shell, skill.content, {rule.id: rule.stig_id for rule in skill.rules.values()}, folder)


def lay_out_new(target: Target) -> None:
    """Prepare a simulated host that has no files yet. This blocks."""
    if not target.simulated:
        return
    try:
        there = target.files.glob("/etc")
    except Unusable:
        there = []
    if not there:
        target.prepare()


def _shell(target: Target, hosts: Path) -> tuple[Shell, str]:
    """Return the target's shell and the scanner's working folder."""
    if isinstance(target, Reached):
        return target.shell, REMOTE
    if not is_fixture(target.name):
        raise BadInput(f"No command can be run on {target.name}, so OpenSCAP cannot scan it; choose the skill stig.")
    beside = (hosts / target.name / "scap").absolute()
    return TreeShell(hosts / target.name / "root", beside), str(beside)
