"""Waivers. Rows are never deleted: a revoked waiver says when, by whom and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import msgspec
from sqlmodel import Field, Session, SQLModel, col, select

from app.events.record import format_timestamp
from app.events.waiver_in_force import Waiver
from app.store.host_groups import list_groups_of_host
from app.store.run_queries import require_row

_DAY = 24 * 3600.0
WaiverState = Literal["in force", "over", "taken back"]


class WaiverRow(SQLModel, table=True):
    __tablename__ = "waiver"

    id: str = Field(primary_key=True)
    rule: str = Field(index=True)
    scope_kind: str
    scope_name: str
    owner: str
    reason: str
    ticket: str
    until: str
    """Day on which it ends, UTC: 2027-01-31."""
    by: str
    made_at: float
    ended_at: float | None = None
    """Set if it was revoked early."""
    ended_by: str = ""
    ended_why: str = ""

    def is_in_force(self, now: float) -> bool:
        return self.state(now) == "in force"

    def state(self, now: float) -> WaiverState:
        if self.ended_at is not None:
            return "taken back"
        return "in force" if self.waiver.is_unexpired(now) else "over"

    @property
    def waiver(self) -> Waiver:
        """The waiver as it is recorded in the log."""
        scope = {"kind": self.scope_kind, "name": self.scope_name}
        return msgspec.convert(self.model_dump() | {"scope": scope, "since": format_timestamp(self.made_at)}, Waiver)


WEEK = 7
"""Days before and after its end in which notices are sent."""


@dataclass(frozen=True)
class WaiverDue:
    """A waiver that ends soon, or ended within the last week."""

    row: WaiverRow
    kind: Literal["waiver.ending", "waiver.ended"]
    since: float

    @property
    def notice_key(self) -> str:
        """Unique key of the one notice about it."""
        return f"{self.kind}:{self.row.id}"

    @property
    def summary(self) -> str:
        row = self.row
        what = f"{row.rule} on {row.waiver.scope.label}, owner {row.owner}"
        if self.kind == "waiver.ended":
            return f"Waiver {row.id} ended on {row.until}: {what}, is open again."
        return f"Waiver {row.id} ends on {row.until}: {what}. Fix it by then, or add a new waiver."


def list_waivers_ending_soon_or_recently_ended(
    rows: Sequence[WaiverRow], now: float, days_ahead: int = WEEK
) -> list[WaiverDue]:
    """Return the waivers that end in up to `days_ahead` or ended in the last week, without revoked or replaced ones."""
    in_force = {(row.rule, row.scope_kind, row.scope_name): row.until for row in rows if row.is_in_force(now)}
    found = []
    for row in rows:
        end = datetime.fromisoformat(row.until).replace(tzinfo=UTC).timestamp()
        week = WEEK * _DAY
        since = max(end - days_ahead * _DAY, row.made_at)
        replaced = in_force.get((row.rule, row.scope_kind, row.scope_name), row.until) > row.until
        if row.ended_at is None and not replaced and since <= now < end + week:
            over = now >= end
            found.append(WaiverDue(row, "waiver.ended" if over else "waiver.ending", end if over else since))
    return found


def list_active_waivers(session: Session, host: str, now: float) -> tuple[Waiver, ...]:
    groups = list_groups_of_host(session, host)
    found = (row.waiver for row in list_waivers(session) if row.is_in_force(now))
    return tuple(one for one in found if one.scope.covers_host(host, groups))


def list_waivers(session: Session) -> Sequence[WaiverRow]:
    """Return all waivers, the earliest end first and revoked ones last."""
    order = col(WaiverRow.ended_at).isnot(None), col(WaiverRow.until), col(WaiverRow.made_at)
    return session.exec(select(WaiverRow).order_by(*order)).all()


def require_waiver(session: Session, waiver: str) -> WaiverRow:
    return require_row(session, WaiverRow, "waiver", waiver)
