"""The settings of one process, read once by the command line and handed down."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Settings:
    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = 8000
    lineup: str = "simulated"
    speed: float = 3.0
    """Pace of simulated engines, times the measured rate; 0 is as fast as it can."""

    @property
    def database(self) -> Path:
        return self.data / "temper.sqlite"

    @property
    def dbos_database(self) -> Path:
        return self.data / "dbos.sqlite"

    @property
    def lock(self) -> Path:
        return self.data / "worker.lock"

    @property
    def hosts(self) -> Path:
        return self.data / "hosts"
