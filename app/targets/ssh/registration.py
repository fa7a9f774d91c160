"""Registering a host: read its host key and check that a change could be made there."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from app.errors import BadInput, EnvironmentUnusable
from app.targets.ssh.change_rollback import find_rollback_obstacle
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.connection_opening import fetch_host_key, list_known_keys
from app.targets.ssh.endpoint import Endpoint
from app.text.clean import clean_text

_OPEN = 3
_LONGEST = 300


@dataclass(frozen=True)
class HostIdentity:
    fingerprint: str
    """In the form SHA256:…, as `ssh-keygen -l` prints it."""
    known_hosts: str


async def fetch_host_key_and_fingerprint(end: Endpoint) -> HostIdentity:
    key = await fetch_host_key(end.address, end.port)
    return HostIdentity(key.get_fingerprint(), _format_known_host(end, key))


def read_identity_from_known_hosts(end: Endpoint, known_hosts: Path) -> HostIdentity:
    """Read the host's identity from a known_hosts file; raise BadInput if it has no key of the host."""
    try:
        keys = list_known_keys(end, known_hosts)
    except (OSError, ValueError) as exc:
        raise BadInput(f"{known_hosts} cannot be read as a known_hosts file: {exc}.") from exc
    if not keys:
        raise BadInput(f"{known_hosts} has no key of {end.address}:{end.port}.")
    return HostIdentity(keys[0].get_fingerprint(), "".join(_format_known_host(end, key) for key in keys))


def find_rollback_obstacle_at_login(end: Endpoint, identity: HostIdentity) -> str:
    """Log in, become root and check the journal space. Return why rollback is impossible, or "" if it works."""
    with tempfile.TemporaryDirectory(prefix="temper-host-") as folder:
        known_hosts = Path(folder, "known_hosts")
        known_hosts.write_text(identity.known_hosts)
        line = SshConnection(end, known_hosts)
        try:
            line.log_in()
            return find_rollback_obstacle(line)
        finally:
            line.close()


def _format_known_host(end: Endpoint, key: asyncssh.SSHKey) -> str:
    place = end.address if end.port == 22 else f"[{end.address}]:{end.port}"
    return f"{place} {key.export_public_key().decode().strip()}\n"


def remove_temper_files_from_host(connection: SshConnection, scanner_folder: str) -> list[str]:
    """Remove our files and `scanner_folder`; return the paths. Raise BadInput if a change is open."""
    said = connection.run("clean", scanner_folder)
    if said.code == _OPEN:
        raise BadInput(
            f"nothing was removed from {connection.end}: {said.reason}; "
            "first roll it back with temper host check --undo."
        )
    if said.code:
        raise EnvironmentUnusable(f"could not remove all files from {connection.end}: {said.reason}.")
    return [clean_text(path, _LONGEST) for path in said.lines]
