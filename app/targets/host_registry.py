"""Registered hosts. Each has a folder with its endpoint, its accepted host key and its journals."""

import re
import time
from pathlib import Path
from typing import Literal

import msgspec

from app.errors import BadInput
from app.events.event_field_types import Mode
from app.targets.crash_safe_writes import Disk
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.host_lock import ALONE, Ownership
from app.targets.journal import Journal
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.ssh_target import SshTarget
from app.targets.target import Target
from app.targets.vm.virtual_machine import VirtualMachine

FIXTURE = "fixture"
"""The built-in host. fixture-2 to fixture-99 are like it, created on first use."""
_FIXTURES = re.compile(r"fixture(-[2-9]|-[1-9][0-9])?")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_FILE, _KNOWN = "host.json", "known_hosts"


class DisposableMachine(msgspec.Struct, frozen=True):
    """The machine of `temper machine` or of a demo that a host is. Only these register a host with it."""

    kind: Literal["vm", "rootfs"]
    """A virtual machine boots; a Debian in a namespace does not."""
    folder: str


class RegisteredHost(msgspec.Struct, frozen=True, kw_only=True):
    """A registered host. It has the path of a key or password, never the secret itself."""

    name: str
    end: Endpoint
    fingerprint: str
    """The fingerprint of the host key that a person accepted."""
    added_at: float
    title: str = ""
    machine: DisposableMachine | None = None
    """None for a host that somebody may depend on."""

    @property
    def can_reboot_unasked(self) -> bool:
        """Whether it may be rebooted without asking anybody."""
        return self.machine is not None and self.machine.kind == "vm"

    @property
    def has_own_boot(self) -> bool:
        return self.machine is None or self.machine.kind == "vm"


def register_host(
    hosts_folder: Path,
    name: str,
    endpoint: Endpoint,
    known_hosts_text: str,
    fingerprint: str,
    title: str = "",
    machine: DisposableMachine | None = None,
) -> RegisteredHost:
    require_free_name(hosts_folder, name)
    folder = hosts_folder / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    added = RegisteredHost(
        name=name, end=endpoint, fingerprint=fingerprint, added_at=time.time(), title=title, machine=machine
    )
    disk = Disk()
    disk.write_private_file(folder / _KNOWN, known_hosts_text.encode())
    disk.write_private_file(folder / _FILE, msgspec.json.format(msgspec.json.encode(added)))
    return added


def is_fixture(name: str) -> bool:
    return bool(_FIXTURES.fullmatch(name))


def list_default_and_existing_fixtures(hosts_folder: Path) -> list[str]:
    there = [at.name for at in hosts_folder.iterdir() if is_fixture(at.name)] if hosts_folder.is_dir() else []
    return sorted({FIXTURE, *there}, key=lambda name: (len(name), name))


def require_free_name(hosts_folder: Path, name: str) -> None:
    if not _NAME.fullmatch(name) or is_fixture(name):
        raise BadInput(
            f"{name[:64]!a} cannot be a host's name: use small letters, digits, '.', '_' and '-', and not {FIXTURE!r}."
        )
    if find_host(hosts_folder, name):
        raise BadInput(f"there is already a host {name!r}: remove it first, or choose another name.")


def find_host(hosts_folder: Path, name: str) -> RegisteredHost | None:
    if not _NAME.fullmatch(name) or is_fixture(name):
        return None
    try:
        return msgspec.json.decode((hosts_folder / name / _FILE).read_bytes(), type=RegisteredHost)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError) as exc:
        raise BadInput(
            f"{hosts_folder / name / _FILE} cannot be read ({exc}): repair it, or move it away and add the host again."
        ) from exc


def list_hosts(hosts_folder: Path) -> list[RegisteredHost]:
    if not hosts_folder.is_dir():
        return []
    found = (find_host(hosts_folder, at.name) for at in sorted(hosts_folder.iterdir()))
    return [one for one in found if one]


def remove_host(hosts_folder: Path, name: str) -> None:
    """Unregister the host. Its journals stay as a record of the changes."""
    require_removable(hosts_folder, name)
    for file in (_FILE, _KNOWN):
        Disk().remove_file_by_path(hosts_folder / name / file)


def require_removable(hosts_folder: Path, name: str) -> RegisteredHost:
    found = find_host(hosts_folder, name)
    if found is None:
        raise BadInput(f"there is no added host {name[:64]!a}.")
    if held := list_pending_changes(hosts_folder, name):
        raise BadInput(
            f"the change {held[0]} is open on {name}: first roll it back with temper host check {name} --undo."
        )
    return found


def list_pending_changes(hosts_folder: Path, name: str) -> list[str]:
    """List the open changes in the local journal, without asking the host."""
    return Journal(hosts_folder / name / "journal", Disk()).list_pending()


def forget_changes_undone_by_machine_reset(hosts_folder: Path, name: str) -> None:
    """Close the journals of a host whose machine was reset: rolled back, they would bring old files to it."""
    Journal(hosts_folder / name / "journal", Disk()).void_journals()


def require_known_host(name: str, hosts_folder: Path) -> None:
    if not is_fixture(name) and find_host(hosts_folder, name) is None:
        names = ", ".join([FIXTURE, *(one.name for one in list_hosts(hosts_folder))])
        raise BadInput(f"there is no host {name[:64]!a}. The hosts are: {names}. Add others with temper host add.")


def choose_auto_for_fixture_else_review(name: str) -> Mode:
    """Return "review" for real hosts, where each change needs an approval, and "auto" for fixtures."""
    return "auto" if is_fixture(name) else "review"


def open_target(name: str, hosts_folder: Path, ownership: Ownership = ALONE) -> Target:
    require_known_host(name, hosts_folder)
    found = find_host(hosts_folder, name)
    if found is None:
        return FixtureTarget(name, hosts_folder / name, fence=ownership.fence)
    machine = Path(found.machine.folder) if found.machine and found.can_reboot_unasked else None
    own = VirtualMachine(machine.parent, machine.name) if machine else None
    return SshTarget(name, hosts_folder / name, found.end, owned=ownership, machine=own)
