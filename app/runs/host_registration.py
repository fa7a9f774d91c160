"""Register SSH hosts for the API and the pages: compare the host key, test the login and check for rollback."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from app.errors import Rejected, convert_bad_input_to_rejected
from app.targets import host_registry
from app.targets.host_registry import RegisteredHost
from app.targets.ssh.endpoint import Endpoint, Way, check_environment_password_host, parse_endpoint
from app.targets.ssh.registration import HostIdentity, fetch_host_key_and_fingerprint, find_rollback_obstacle_at_login

KIND = "unsupported-host"
_VARIABLE = re.compile(r"TEMPER_SSH_[A-Z0-9_]{1,50}")


@dataclass(frozen=True, kw_only=True)
class HostSpec:
    """A host to add. Secrets are referenced: a key by its file on the server, a password by its variable."""

    name: str
    place: str
    way: str = "key"
    secret_at: str = ""
    accept_key: str = ""
    """SHA256:… fingerprint that a person has compared."""


@dataclass(frozen=True)
class HostCandidate:
    """A reachable host that is not registered yet; a person must compare its key."""

    end: Endpoint
    key: HostIdentity


@dataclass(frozen=True)
class AddedHost:
    host: RegisteredHost
    lacking: str
    """Why changes could not be rolled back; empty if they could."""


def fetch_host_key_for_candidate(spec: HostSpec, hosts_folder: Path) -> HostCandidate:
    """Return the host's key. Nothing but the SSH greeting is sent."""
    end = _validate_spec_and_create_endpoint(spec, hosts_folder)
    with convert_bad_input_to_rejected("place", KIND):
        return HostCandidate(end, asyncio.run(fetch_host_key_and_fingerprint(end)))


def register_host(spec: HostSpec, candidate: HostCandidate, hosts_folder: Path) -> AddedHost:
    """Register the host if `spec` accepts its key. Raise EnvironmentUnusable without a login or root."""
    if spec.accept_key != candidate.key.fingerprint:
        shown = f"{candidate.end} shows the host key {candidate.key.fingerprint}."
        request = "Compare it with the key on the host. If they are identical, send it as accept_key."
        raise Rejected("accept_key", f"{shown} {request}", "host-key")
    with convert_bad_input_to_rejected("secret_at", KIND):
        check_environment_password_host(candidate.end, [candidate.key.fingerprint], must_name_host=True)
    lacking = find_rollback_obstacle_at_login(candidate.end, candidate.key)
    key = candidate.key
    host = host_registry.register_host(hosts_folder, spec.name, candidate.end, key.known_hosts, key.fingerprint)
    return AddedHost(host, lacking)


def _validate_spec_and_create_endpoint(spec: HostSpec, hosts_folder: Path) -> Endpoint:
    """Build the endpoint. A password must be in a variable: a file's content would be sent to the host."""
    way: Way | None = next((one for one in get_args(Way) if one == spec.way), None)
    if way is None:
        known = f"choose one of {', '.join(get_args(Way))}"
        raise Rejected("way", f"{spec.way[:40]!a} is not a way to log in: {known}.", KIND)
    if way == "password" and not _VARIABLE.fullmatch(spec.secret_at):
        request = "give the environment variable of Temper that holds the password"
        raise Rejected("secret_at", f"{request}: TEMPER_SSH_ followed by capitals.", KIND)
    if way == "key" and not spec.secret_at:
        raise Rejected("secret_at", "give the file of the private key on the server.", KIND)
    with convert_bad_input_to_rejected("name", KIND):
        host_registry.require_free_name(hosts_folder, spec.name)
    with convert_bad_input_to_rejected("place", KIND):
        return parse_endpoint(spec.place, way, spec.secret_at)
