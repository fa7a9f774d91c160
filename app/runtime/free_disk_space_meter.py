"""The free space of the data folder's disk, and since when it has been low."""

import shutil
from dataclasses import dataclass
from pathlib import Path

LOW_BYTES, LOW_SHARE = 1024**3, 0.05
"""Free bytes below which a disk counts as nearly full; on a small disk their share."""


@dataclass(frozen=True)
class DiskSpace:
    free: int
    total: int
    low_since: float | None = None
    """When it was first seen to be low; None if it is not."""


@dataclass
class DiskMeter:
    """One per process."""

    low_since: float | None = None

    def measure(self, folder: Path, now: float) -> DiskSpace | None:
        """Return the space of the folder's disk; None if it cannot be read."""
        try:
            usage = shutil.disk_usage(folder)
        except OSError:
            return None
        self.update_low_since(usage.free, usage.total, now)
        return DiskSpace(usage.free, usage.total, self.low_since)

    def update_low_since(self, free: int, total: int, now: float) -> None:
        is_low = free < min(LOW_BYTES, total * LOW_SHARE)
        self.low_since = (self.low_since or now) if is_low else None
