"""Who is told of events, and how far each got in each run. The events themselves stay in the log alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, update
from sqlmodel import Field, Session, SQLModel, col, select

from app.store.models import EventRow, RunRow
from app.store.rollouts import UNENDED, RolloutRow

AGAIN = -1.0


class WebhookRow(SQLModel, table=True):
    __tablename__ = "webhook"

    id: str = Field(primary_key=True)
    url: str
    secret: str
    kinds: str
    """Separated by blanks; empty: every kind but the single tokens."""
    created_at: float
    delivered: int = 0
    dropped: int = 0
    problem: str = ""
    """Of the newest delivery; empty when it was taken."""
    local: bool = False
    """An admin allowed it to lead to this machine or a network of one's own."""
    template: str = ""
    """How its body is put; empty: a CloudEvent."""


class ProgressRow(SQLModel, table=True):
    __tablename__ = "webhook_progress"

    webhook: str = Field(primary_key=True, foreign_key="webhook.id", ondelete="CASCADE")
    run: str = Field(primary_key=True)
    seq: int = 0
    attempts: int = 0
    """At the event after `seq`."""
    due_at: float = 0.0


def webhooks(session: Session) -> Sequence[WebhookRow]:
    return session.exec(select(WebhookRow).order_by(col(WebhookRow.created_at), col(WebhookRow.id))).all()


def forget(session: Session, webhook: str) -> None:
    session.execute(delete(ProgressRow).where(col(ProgressRow.webhook) == webhook))
    session.execute(delete(WebhookRow).where(col(WebhookRow.id) == webhook))


def progress(session: Session, webhook: str, run: str) -> ProgressRow:
    return session.get(ProgressRow, (webhook, run)) or ProgressRow(webhook=webhook, run=run)


@dataclass(frozen=True)
class ToldOf:
    """What events are of: a run on its host, or a rollout over hosts as they were named."""

    host: str
    simulated: bool


def told_of(session: Session, name: str) -> ToldOf:
    if run := session.get(RunRow, name):
        return ToldOf(run.host, run.simulated)
    if rollout := session.get(RolloutRow, name):
        return ToldOf(rollout.words, rollout.simulated)
    return ToldOf("", simulated=False)


def rollouts_owed(session: Session, webhook: WebhookRow, since: float) -> dict[str, int]:
    """As `owed`; each with how far its chain goes, since other nodes write to it as well."""
    begun = select(ProgressRow.run).where(col(ProgressRow.webhook) == webhook.id)
    upto = select(func.max(EventRow.seq)).where(col(EventRow.run) == col(RolloutRow.id)).scalar_subquery()
    query = select(RolloutRow.id, upto).where(
        (col(RolloutRow.asked_at) >= webhook.created_at) | col(RolloutRow.id).in_(begun),
        col(RolloutRow.ended_at).is_(None) | (col(RolloutRow.ended_at) >= since),
    )
    return {rollout: seq or 0 for rollout, seq in session.exec(query)}


def owed(session: Session, webhook: WebhookRow, since: float) -> Sequence[str]:
    """Runs that may hold something for it: begun after it was asked for, or under way then."""
    begun = select(ProgressRow.run).where(col(ProgressRow.webhook) == webhook.id)
    query = select(RunRow.id).where(
        (col(RunRow.queued_at) >= webhook.created_at) | col(RunRow.id).in_(begun),
        col(RunRow.ended_at).is_(None) | (col(RunRow.ended_at) >= since),
    )
    return session.exec(query.order_by(col(RunRow.queued_at))).all()


def asked_again(session: Session, webhook: str) -> Sequence[str]:
    """Runs whose events a person wants sent once more."""
    query = select(ProgressRow.run).where(col(ProgressRow.webhook) == webhook, col(ProgressRow.due_at) < 0)
    return session.exec(query).all()


def send_again(session: Session, webhook: str, run: str) -> None:
    """From its first event on; what is due before all time is due now."""
    session.merge(ProgressRow(webhook=webhook, run=run, seq=0, attempts=0, due_at=AGAIN))


def add(session: Session, webhook: WebhookRow) -> None:
    """What happened before it was asked for is not told."""
    session.add(webhook)
    session.flush()
    runs = session.exec(select(RunRow.id).where(col(RunRow.ended_at).is_(None))).all()
    rollouts = session.exec(select(RolloutRow.id).where(col(RolloutRow.state).in_(UNENDED))).all()
    for run in (*runs, *rollouts):
        newest = session.exec(select(func.max(EventRow.seq)).where(col(EventRow.run) == run)).one()
        session.add(ProgressRow(webhook=webhook.id, run=run, seq=newest or 0))


def advance(session: Session, row: ProgressRow, *, delivered: int = 0, dropped: int = 0, problem: str = "") -> None:
    """Nothing where the webhook was taken away meanwhile."""
    change = {
        "delivered": WebhookRow.delivered + delivered,
        "dropped": WebhookRow.dropped + dropped,
        "problem": problem,
    }
    session.execute(update(WebhookRow).where(col(WebhookRow.id) == row.webhook).values(change))
    if session.get(WebhookRow, row.webhook):
        session.merge(row)
