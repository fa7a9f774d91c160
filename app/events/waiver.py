"""A finding that somebody answers for until a day: it stays a finding, and is left alone."""

from datetime import UTC, datetime

from msgspec import Struct

from app.events.scope import HostScope


class Waiver(Struct, frozen=True, kw_only=True):
    id: str
    rule: str
    scope: HostScope
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
