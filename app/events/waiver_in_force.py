"""A waiver: an owner accepts a finding until a date, and runs skip it."""

from datetime import UTC, datetime

from msgspec import Struct

from app.events.hosts_of_waiver_or_site_value import HostScope


class Waiver(Struct, frozen=True, kw_only=True):
    id: str
    rule: str
    scope: HostScope
    owner: str
    """Who is accountable."""
    reason: str
    ticket: str
    since: str
    """Creation time: 2026-11-22T09:30:00Z"""
    until: str
    """Day on which it ends, UTC: 2027-01-31. On that day the finding is open again."""

    def is_unexpired(self, at: float) -> bool:
        return datetime.fromtimestamp(at, UTC).date().isoformat() < self.until

    @property
    def summary(self) -> str:
        ticket = f", ticket {self.ticket}" if self.ticket else ""
        sentence = f"WAIVED until {self.until} on {self.scope.label}, owner {self.owner}{ticket}: {self.reason}"
        return f"{sentence.rstrip('.')}. The rule does not hold, and from that day on the finding counts as open again."
