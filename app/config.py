"""Settings of one process. The command line reads them once and passes them on."""

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import BadInput
from app.people.rights import Right

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
PACKAGE = Path(__file__).parent


def get_migrations_folder() -> Path:
    """Return the folder of migrations: inside an installed package, else at the top of the checkout."""
    inside = PACKAGE / "migrations"
    return inside if inside.is_dir() else PACKAGE.parent / "migrations"


@dataclass(frozen=True)
class Settings:
    data: Path = Path("data")
    kind: str = "serve"
    """Kind of this process: serve, worker, run or score. A score drives its own runs and offers them to nobody."""
    database_url: str = field(default_factory=lambda: os.environ.get("TEMPER_DATABASE_URL", ""), repr=False)
    """URL of a PostgreSQL database that several nodes share; if empty, the data folder holds everything."""
    host: str = "127.0.0.1"
    port: int = 8000
    sign_in: bool = False
    """Require sign-in on loopback too. On other addresses sign-in is always required."""
    proxies: tuple[Network, ...] = ()
    """Trusted reverse proxies: their forwarded client address and scheme are used."""
    cors_origins: str = field(default_factory=lambda: os.environ.get("TEMPER_CORS_ORIGINS", ""))
    """Comma-separated origins of other sites whose pages may call the API."""
    audit_syslog: str = ""
    """HOST:PORT of a syslog server that receives the head of the audit chain."""
    lineup: str = "simulated"
    oidc: str = ""
    """Issuer URL of an identity provider, as in its discovery document."""
    oidc_client: str = ""
    oidc_secret_from: str = ""
    oidc_claim: str = "preferred_username"
    oidc_right: Right = "viewer"
    oidc_groups: tuple[tuple[str, Right], ...] = ()
    """Pairs of group and right. If any are set, they alone decide who may sign in and with which right."""
    oidc_groups_claim: str = "groups"
    oidc_scope: str = ""
    otlp: str = ""
    """Base URL of an OpenTelemetry collector that receives spans and metrics: http://HOST:4318."""
    tsa: str = field(default_factory=lambda: os.environ.get("TEMPER_TSA", ""))
    """URL of a time stamping authority (RFC 3161) that stamps each pack when it is downloaded."""
    log_hook: str = field(default_factory=lambda: os.environ.get("TEMPER_LOG_HOOK", ""))
    """JSON list: the command that adds a pack's statement to a log when the pack is first downloaded."""
    approvals: str = field(default_factory=lambda: os.environ.get("TEMPER_APPROVALS", ""))
    """TOML file with the number of approvals that each kind of change needs."""
    recipes: tuple[Path, ...] = ()
    """Recipe files of this command, beside those in the data folder."""
    log_format: str = "text"
    """Format of the server's log: text or json."""
    backup_days: float = field(default_factory=lambda: _read_days_variable("TEMPER_BACKUP_DAYS", 7.0))
    """Age in days from which the newest backup counts as old."""
    keep_days: float = 0.0
    """Days after its end at which a run shrinks to its evidence; 0 keeps every run whole."""
    attach: bool = False
    """Only observe the engines that the line-up launches; something else starts them."""
    speed: float = 3.0
    """Pace of simulated engines as a multiple of the measured rate; 0 means as fast as possible."""

    @property
    def is_sign_in_off(self) -> bool:
        return not self.sign_in and (self.host == "localhost" or _is_loopback_ip_address(self.host))

    @property
    def database_path_or_url(self) -> Path | str:
        return self.database_url or self.data / "temper.sqlite"

    @property
    def database_url_or_queue_sqlite_url(self) -> str:
        """Return the URL of the DBOS queue database."""
        return self.database_url or f"sqlite:///{self.data / 'dbos.sqlite'}"

    @property
    def lock_path(self) -> Path:
        return self.data / "worker.lock"

    @property
    def hosts_folder(self) -> Path:
        return self.data / "hosts"

    @property
    def fix_recipes_folder(self) -> Path:
        return self.data / "recipes"


def _read_days_variable(variable: str, default: float) -> float:
    said = os.environ.get(variable, "")
    if said and not said.isdecimal():
        raise BadInput(f"{variable} must be a whole number of days; it is {said[:40]!a}.")
    return float(said) if said else default


def _is_loopback_ip_address(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
