"""Open hosts by name: built-in fixtures and registered hosts."""

from pathlib import Path

from app.errors import BadInput
from app.events.vocabulary import Mode
from app.targets import host_registry
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.ownership import ALONE, Ownership
from app.targets.ssh.ssh_target import SshTarget
from app.targets.target import Target

FIXTURE = host_registry.FIXTURE


def require_known_host(name: str, hosts: Path) -> None:
    if not host_registry.is_fixture(name) and host_registry.find_host(hosts, name) is None:
        names = ", ".join([FIXTURE, *(one.name for one in host_registry.list_hosts(hosts))])
        raise BadInput(f"there is no host {name[:64]!a}: there is {names}; temper host add makes others known.")


def choose_default_mode(name: str) -> Mode:
    """Return "review" for real hosts, where each change needs an approval, and "auto" for fixtures."""
    return "auto" if host_registry.is_fixture(name) else "review"


def open_target(name: str, hosts: Path, owned: Ownership = ALONE) -> Target:
    require_known_host(name, hosts)
    found = host_registry.find_host(hosts, name)
    if found is None:
        return FixtureTarget(name, hosts / name, fence=owned.fence)
    return SshTarget(name, hosts / name, found.end, owned=owned)
