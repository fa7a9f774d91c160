"""The settings of one process, read once by the command line and handed down."""

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from app.people.rights import Right

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
PACKAGE = Path(__file__).parent


def migrations() -> Path:
    """At the top of a checkout, inside the package when it is installed."""
    inside = PACKAGE / "migrations"
    return inside if inside.is_dir() else PACKAGE.parent / "migrations"


@dataclass(frozen=True)
class Settings:
    data: Path = Path("data")
    kind: str = "serve"
    """What this process is to those that share its database: serve, worker or run."""
    database_url: str = field(default_factory=lambda: os.environ.get("TEMPER_DATABASE_URL", ""), repr=False)
    """Of a PostgreSQL that several nodes share; without it everything is in the data folder."""
    host: str = "127.0.0.1"
    port: int = 8000
    sign_in: bool = False
    """Ask who comes, also on loopback. Anywhere else that is not a choice."""
    proxies: tuple[Network, ...] = ()
    """What stands before it and is believed when it says from where, and how, somebody came."""
    cors_origins: str = field(default_factory=lambda: os.environ.get("TEMPER_CORS_ORIGINS", ""))
    """Origins of other sites whose pages may use the API, separated by commas."""
    audit_syslog: str = ""
    """HOST:PORT of a syslog that is told the head of the audit chain."""
    lineup: str = "simulated"
    oidc: str = ""
    """Issuer of an identity provider: https://…, as its discovery document calls itself."""
    oidc_client: str = ""
    oidc_secret_from: str = ""
    oidc_claim: str = "preferred_username"
    oidc_right: Right = "viewer"
    oidc_groups: tuple[tuple[str, Right], ...] = ()
    """Group and right. Where there are any, they alone say who comes in and as what."""
    oidc_groups_claim: str = "groups"
    oidc_scope: str = ""
    otlp: str = ""
    """Base of an OpenTelemetry collector, http://HOST:4318, that is told spans and measures."""
    tsa: str = field(default_factory=lambda: os.environ.get("TEMPER_TSA", ""))
    """Address of a time stamping authority (RFC 3161) that packs are stamped by as they are handed out."""
    log_hook: str = field(default_factory=lambda: os.environ.get("TEMPER_LOG_HOOK", ""))
    """A JSON list: the command that enters a pack's statement in a log as the pack is first handed out."""
    approvals: str = field(default_factory=lambda: os.environ.get("TEMPER_APPROVALS", ""))
    """A TOML file that says which change takes how many people."""
    keep_days: float = 0.0
    """Runs that ended longer ago shrink to their evidence; 0 keeps them whole."""
    attach: bool = False
    """Engines that the line-up launches are started by somebody else: they are only looked at."""
    speed: float = 3.0
    """Pace of simulated engines, times the measured rate; 0 is as fast as it can."""

    @property
    def demo(self) -> bool:
        return not self.sign_in and (self.host == "localhost" or _is_loopback(self.host))

    @property
    def database(self) -> Path | str:
        return self.database_url or self.data / "temper.sqlite"

    @property
    def queue(self) -> str:
        """Where DBOS keeps who works on what."""
        return self.database_url or f"sqlite:///{self.data / 'dbos.sqlite'}"

    @property
    def lock(self) -> Path:
        return self.data / "worker.lock"

    @property
    def hosts(self) -> Path:
        return self.data / "hosts"


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
