"""Register SSH hosts for the API and the pages: compare the host key, test the login and check for rollback."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from app.errors import BadInput, NotTaken
from app.targets import registry
from app.targets.registry import RegisteredHost
from app.targets.ssh.endpoint import Endpoint, Way, endpoint, given_for
from app.targets.ssh.introduce import Introduction, check, shown

KIND = "unsupported-host"
_VARIABLE = re.compile(r"TEMPER_SSH_[A-Z0-9_]{1,50}")


@dataclass(frozen=True, kw_only=True)
class HostWish:
    """A host to add. Secrets are referenced: a key by its file on the server, a password by its variable."""

    name: str
    place: str
    way: str = "key"
    secret_at: str = ""
    accept_key: str = ""
    """SHA256:… fingerprint that a person has compared."""


@dataclass(frozen=True)
class HostMet:
    """A reachable host that is not registered yet; a person must compare its key."""

    end: Endpoint
    key: Introduction


@dataclass(frozen=True)
class HostAdded:
    host: RegisteredHost
    lacking: str
    """Why changes could not be rolled back; empty if they could."""


def meet(wish: HostWish, hosts: Path) -> HostMet:
    """Return the host's key. Nothing but the SSH greeting is sent."""
    end = _endpoint(wish, hosts)
    with _fault_of("place"):
        return HostMet(end, asyncio.run(shown(end)))


def add_met(wish: HostWish, met: HostMet, hosts: Path) -> HostAdded:
    """Register the host if `wish` accepts its key. Raise EnvironmentUnusable without a login or root."""
    if wish.accept_key != met.key.fingerprint:
        said = f"{met.end} shows the host key {met.key.fingerprint}. Compare it on the host; if it is that, send it."
        raise NotTaken("accept_key", said, "host-key")
    with _fault_of("secret_at"):
        given_for(met.end, [met.key.fingerprint], said=True)
    lacking = check(met.end, met.key)
    return HostAdded(registry.add(hosts, wish.name, met.end, met.key.known_hosts, met.key.fingerprint), lacking)


def _endpoint(wish: HostWish, hosts: Path) -> Endpoint:
    """Build the endpoint. A password must be in a variable: a file's content would be sent to the host."""
    way: Way | None = next((one for one in get_args(Way) if one == wish.way), None)
    if way is None:
        raise NotTaken("way", f"there is no way {wish.way[:40]!a}: choose one of {', '.join(get_args(Way))}.", KIND)
    if way == "password" and not _VARIABLE.fullmatch(wish.secret_at):
        said = "name the variable of Temper's environment that holds the password: TEMPER_SSH_ and capitals."
        raise NotTaken("secret_at", said, KIND)
    if way == "key" and not wish.secret_at:
        raise NotTaken("secret_at", "name the file of the private key on the server.", KIND)
    with _fault_of("name"):
        registry.free(hosts, wish.name)
    with _fault_of("place"):
        return endpoint(wish.place, way, wish.secret_at)


@contextmanager
def _fault_of(field: str) -> Iterator[None]:
    try:
        yield
    except BadInput as exc:
        raise NotTaken(field, str(exc), KIND) from exc
