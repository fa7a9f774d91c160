"""The address and login method of a host. Secrets stay in their file or environment variable."""

import os
import re
import shlex
from collections.abc import Collection, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Literal

import asyncssh
import msgspec

from app.errors import BadInput, EnvironmentUnusable

_FOR = "_FOR"
Way = Literal["key", "agent", "password"]

_PLACE = re.compile(
    r"(?P<user>[a-z_][a-z0-9_.-]{0,31})@(?P<address>\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9][A-Za-z0-9.-]*)(?::(?P<port>\d{1,5}))?"
)


class WatchedLogin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The login of another account that must keep working; every health check tries it."""

    user: str
    key: str


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    user: str
    address: str
    port: int = 22
    way: Way
    secret_at: str = ""
    """The path of the key; or the file (with a slash) or environment variable (without) of the password."""

    watched: tuple[WatchedLogin, ...] = ()

    @property
    def logins(self) -> tuple["Endpoint", ...]:
        """This login, then those of the watched accounts."""
        others = (
            Endpoint(user=one.user, address=self.address, port=self.port, way="key", secret_at=one.key)
            for one in self.watched
        )
        return (self, *others)

    def __str__(self) -> str:
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.user}@{address}:{self.port}"


def parse_watched_login(user_equals_key_file: str) -> WatchedLogin:
    """Parse `user=FILE`, where FILE is a private key; raise BadInput otherwise."""
    user, equals, key = user_equals_key_file.partition("=")
    if not equals or not re.fullmatch(r"[a-z_][a-z0-9_.-]{0,31}", user) or not key:
        raise BadInput(
            f"{user_equals_key_file!a} is not a login to watch: write user=FILE, where FILE is its private key."
        )
    return WatchedLogin(user, _make_key_path_absolute(key))


def parse_endpoint(
    login: str, method: Way, secret_at: str = "", logins_to_keep_watching: Sequence[str] = ()
) -> Endpoint:
    """Build an Endpoint from `user@address[:port]`; raise BadInput otherwise."""
    found = _PLACE.fullmatch(login)
    if not found or not 0 < int(found["port"] or 22) < 65536:
        raise BadInput(f"{login!a} is not a login: write user@address or user@address:port.")
    if method == "key":
        secret_at = _make_key_path_absolute(secret_at)
    return Endpoint(
        user=found["user"],
        address=found["address"].strip("[]"),
        port=int(found["port"] or 22),
        way=method,
        secret_at=secret_at,
        watched=tuple(map(parse_watched_login, logins_to_keep_watching)),
    )


def _make_key_path_absolute(path: str) -> str:
    """Return the absolute path, with `~` and `~user` replaced; raise BadInput for a user without a home folder."""
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError as exc:
        raise BadInput(f"{path!a} begins with the home of an unknown user: write an absolute path.") from exc


def load_key_pairs(end: Endpoint) -> list[asyncssh.SSHKeyPair]:
    """Return copies of the endpoint's key pairs, since a connection changes its own; raise an error if unreadable."""
    try:
        return [copy(pair) for pair in _load_cached_pairs(end.secret_at, _stamp_key_and_certificate(end.secret_at))]
    except OSError as exc:
        raise EnvironmentUnusable(f"the key {end.secret_at} cannot be read: {exc.strerror or exc}.") from exc
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as exc:
        said = f"the key {end.secret_at} cannot be used ({exc}); one with a passphrase works through an agent."
        raise EnvironmentUnusable(said) from exc


@lru_cache(maxsize=64)
def _load_cached_pairs(path: str, _stamps: tuple[tuple[int, ...] | None, ...]) -> tuple[asyncssh.SSHKeyPair, ...]:
    """Load a key once per file version: loading a 4096-bit RSA key takes a quarter of a second."""
    return tuple(asyncssh.load_keypairs([path]))


def _stamp_key_and_certificate(path: str) -> tuple[tuple[int, ...] | None, ...]:
    """Return file stamps of the key and its certificate; they change when a file changes."""
    return tuple(_stamp_file(Path(one).expanduser()) for one in (path, f"{path}-cert.pub"))


def _stamp_file(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns


def check_environment_password_host(end: Endpoint, fingerprints: Collection[str], *, must_name_host: bool) -> None:
    """Raise unless a password from the environment belongs to this host and key, as the variable NAME_FOR says.

    With `must_name_host`, NAME_FOR must be set, because the requester does not control the environment.
    """
    if end.way != "password" or "/" in end.secret_at:
        return
    name, here = f"{end.secret_at}{_FOR}", " ".join([str(end), *fingerprints])
    place, *keys = os.environ.get(name, "").split() or [""]
    wrong = ""
    given, meant = (str(parse_endpoint(one.lower(), "agent")) if place else "" for one in (place, str(end)))
    if given != meant:
        wrong = f"{end.secret_at} was given for another host than {end}: {name} says which. Nothing was sent."
    elif keys and (other := sorted({*fingerprints} - {*keys})):
        wrong = f"{end.secret_at} was given for another host key than {other[0]}: see {name}. Nothing was sent."
    elif must_name_host and not keys:
        wrong = (
            f"{end.secret_at} does not say which host it is for: where Temper is started, "
            f"set {name}={shlex.quote(here)}, or add the host there with `temper host add`."
        )
    if wrong:
        raise BadInput(wrong) if must_name_host else EnvironmentUnusable(wrong)


def read_password(end: Endpoint) -> str:
    if "/" not in end.secret_at:
        if end.secret_at not in os.environ:
            holds = f"the environment variable {end.secret_at}, which holds the password"
            raise EnvironmentUnusable(f"{holds}, is not set.")
        return os.environ[end.secret_at]
    try:
        return Path(end.secret_at).read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise EnvironmentUnusable(f"the password file {end.secret_at} cannot be read: {exc}.") from exc
