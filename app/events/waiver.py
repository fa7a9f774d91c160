"""A finding that somebody answers for until a day: it stays a finding, and is left alone."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct


class WaiverScope(Struct, frozen=True):
    """Where it holds: on every host, on one, or on those of a group."""

    kind: Literal["all", "host", "group"] = "all"
    name: str = ""

    def covers(self, host: str, groups: Collection[str]) -> bool:
        """`groups` are those that the host is in."""
        return self.kind == "all" or (self.name in groups if self.kind == "group" else self.name == host)

    @property
    def told(self) -> str:
        return "every host" if self.kind == "all" else f"{self.kind} {self.name}"


class Waiver(Struct, frozen=True, kw_only=True):
    id: str
    rule: str
    scope: WaiverScope
    owner: str
    """Who answers for it."""
    reason: str
    ticket: str
    since: str
    """When it was made: 2026-11-22T09:30:00Z"""
    until: str
    """The day on which it ends, UTC: 2027-01-31. From its first second on the finding is open as any other."""

    def holds(self, at: float) -> bool:
        return datetime.fromtimestamp(at, UTC).date().isoformat() < self.until

    @property
    def told(self) -> str:
        ticket = f", ticket {self.ticket}" if self.ticket else ""
        said = f"WAIVED until {self.until} on {self.scope.told}, owner {self.owner}{ticket}: {self.reason}"
        return f"{said.rstrip('.')}. The rule does not hold, and from that day on the finding counts as open again."
