"""Create a host's scanner: the built-in checks, or OpenSCAP if the skill comes from a data stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from app.errors import BadInput, EnvironmentUnusable
from app.scanners.openscap.local_oscap_shell import TreeShell
from app.scanners.openscap.oscap_command import Shell
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.scanner import BuiltinScanner, Scanner
from app.skills.skill import Skill
from app.targets.host_registry import is_fixture, open_target
from app.targets.target import Target
from app.targets.target_thread import TargetThread

REMOTE = "/var/cache/temper/scap"


@runtime_checkable
class ShellTarget(Protocol):
    """A target whose host can run commands."""

    @property
    def shell(self) -> Shell: ...


def create_scanner(skill: Skill, target: Target, hosts_folder: Path) -> Scanner:
    if skill.content is None:
        return BuiltinScanner({rule.id: rule.check for rule in skill.rules.values()})
    shell, folder = _get_shell_and_folder(target, hosts_folder)
    return OpenScapScanner(shell, skill.content, {rule.id: rule.stig_id for rule in skill.rules.values()}, folder)


@asynccontextmanager
async def open_scanner_and_target(
    skill: Skill, host: str, hosts_folder: Path
) -> AsyncIterator[tuple[Scanner, TargetThread]]:
    """Yield a host's scanner and its target, outside any run. Nothing on the host is changed."""
    target = TargetThread(await asyncio.to_thread(open_target, host, hosts_folder))
    try:
        await target.run_blocking(prepare_fixture_if_empty)
        yield await target.run_blocking(lambda target: create_scanner(skill, target, hosts_folder)), target
    finally:
        await target.close()


def prepare_fixture_if_empty(target: Target) -> None:
    """Prepare a simulated host that has no files yet. This blocks."""
    if not target.simulated:
        return
    try:
        there = target.files.glob("/etc")
    except EnvironmentUnusable:
        there = []
    if not there:
        target.prepare()


def _get_shell_and_folder(target: Target, hosts_folder: Path) -> tuple[Shell, str]:
    """Return the target's shell and the scanner's working folder."""
    if isinstance(target, ShellTarget):
        return target.shell, REMOTE
    if not is_fixture(target.name):
        raise BadInput(f"OpenSCAP cannot scan {target.name}, which runs no commands: choose the skill stig.")
    beside = (hosts_folder / target.name / "scap").absolute()
    return TreeShell(hosts_folder / target.name / "root", beside), str(beside)
