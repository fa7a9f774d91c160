"""Waivers as rows. None is ever removed: one that ended says when, by whom and why."""

from collections.abc import Sequence

from sqlalchemy import Engine
from sqlmodel import Field, Session, SQLModel, col, select

from app.errors import NotTaken
from app.events.record import stamp
from app.events.waiver import Waiver, WaiverScope
from app.store.held import asking


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
    """The day on which it ends, UTC: 2027-01-31."""
    by: str
    made_at: float
    ended_at: float | None = None
    """Taken back before its day."""
    ended_by: str = ""
    ended_why: str = ""

    def in_force(self, now: float) -> bool:
        return self.ended_at is None and self.waiver.holds(now)

    @property
    def waiver(self) -> Waiver:
        """As the log has it."""
        return Waiver(
            id=self.id,
            rule=self.rule,
            scope=WaiverScope(self.scope_kind, self.scope_name),  # type: ignore[arg-type]
            owner=self.owner,
            reason=self.reason,
            ticket=self.ticket,
            since=stamp(self.made_at),
            until=self.until,
        )


class StoredWaivers:
    """What a run asks as it begins."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def on(self, host: str, now: float) -> tuple[Waiver, ...]:
        with asking(self._database) as session:
            found = [row.waiver for row in waivers(session) if row.in_force(now)]
        return tuple(one for one in found if one.scope.covers(host))


def waivers(session: Session) -> Sequence[WaiverRow]:
    """Those that end first go first; those that were taken back last."""
    order = col(WaiverRow.ended_at).isnot(None), col(WaiverRow.until), col(WaiverRow.made_at)
    return session.exec(select(WaiverRow).order_by(*order)).all()


def known(session: Session, waiver: str) -> WaiverRow:
    if row := session.get(WaiverRow, waiver):
        return row
    said = f"there is no waiver {waiver[:40]!a}: temper waiver list names them, and GET /api/v1/waivers."
    raise NotTaken("waiver", said, "not-found")
