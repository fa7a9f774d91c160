"""Webhooks and their delivery progress per run. The events themselves are read from the log."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, update
from sqlmodel import Field, Session, SQLModel, col, select

from app.store.db import create_insert
from app.store.models import EventRow, RunRow
from app.store.rollouts import UNENDED, RolloutRow

AGAIN = -1.0


class WebhookRow(SQLModel, table=True):
    __tablename__ = "webhook"

    id: str = Field(primary_key=True)
    url: str
    secret: str
    kinds: str
    """Separated by spaces; empty means all kinds but turn deltas."""
    created_at: float
    delivered: int = 0
    dropped: int = 0
    problem: str = ""
    """Error of the newest delivery; empty if it succeeded."""
    local: bool = False
    """An admin allowed local and private addresses."""
    template: str = ""
    """Body template; empty for a CloudEvent."""


class DeliveryProgressRow(SQLModel, table=True):
    __tablename__ = "webhook_progress"

    webhook: str = Field(primary_key=True, foreign_key="webhook.id", ondelete="CASCADE")
    run: str = Field(primary_key=True)
    seq: int = 0
    attempts: int = 0
    """Attempts to deliver the event after `seq`."""
    due_at: float = 0.0
    """When the next attempt is due. Below zero, the same of a run to redeliver, which is owed however old it is."""


def list_webhooks(session: Session) -> Sequence[WebhookRow]:
    return session.exec(select(WebhookRow).order_by(col(WebhookRow.created_at), col(WebhookRow.id))).all()


def delete_webhook(session: Session, webhook: str) -> None:
    session.execute(delete(DeliveryProgressRow).where(col(DeliveryProgressRow.webhook) == webhook))
    session.execute(delete(WebhookRow).where(col(WebhookRow.id) == webhook))


def get_or_build_progress(session: Session, webhook: str, run: str) -> DeliveryProgressRow:
    return session.get(DeliveryProgressRow, (webhook, run)) or DeliveryProgressRow(webhook=webhook, run=run)


@dataclass(frozen=True)
class EventSubject:
    """Subject of events: a run on its host, or a rollout over its selection of hosts."""

    host: str
    simulated: bool


def find_subject_host_and_simulated(session: Session, run_or_rollout: str) -> EventSubject:
    if run := session.get(RunRow, run_or_rollout):
        return EventSubject(run.host, run.simulated)
    if rollout := session.get(RolloutRow, run_or_rollout):
        return EventSubject(rollout.words, rollout.simulated)
    return EventSubject("", simulated=False)


def map_rollouts_to_deliver_to_newest_seqs(
    session: Session, webhook: WebhookRow, unended_or_ended_since: float
) -> dict[str, int]:
    """Return the same of rollouts, each with its newest seq, since other nodes append to it."""
    begun = select(DeliveryProgressRow.run).where(col(DeliveryProgressRow.webhook) == webhook.id)
    upto = select(func.max(EventRow.seq)).where(col(EventRow.run) == col(RolloutRow.id)).scalar_subquery()
    query = select(RolloutRow.id, upto).where(
        (col(RolloutRow.asked_at) >= webhook.created_at) | col(RolloutRow.id).in_(begun),
        col(RolloutRow.ended_at).is_(None) | (col(RolloutRow.ended_at) >= unended_or_ended_since),
    )
    return {rollout: seq or 0 for rollout, seq in session.exec(query)}


def list_runs_with_possibly_undelivered_events(
    session: Session, webhook: WebhookRow, unended_or_ended_since: float
) -> Sequence[str]:
    """Return the runs with possibly undelivered events: queued after the webhook was added, or in progress then."""
    begun = select(DeliveryProgressRow.run).where(col(DeliveryProgressRow.webhook) == webhook.id)
    query = select(RunRow.id).where(
        (col(RunRow.queued_at) >= webhook.created_at) | col(RunRow.id).in_(begun),
        col(RunRow.ended_at).is_(None) | (col(RunRow.ended_at) >= unended_or_ended_since),
    )
    return session.exec(query.order_by(col(RunRow.queued_at))).all()


def list_runs_to_redeliver(session: Session, webhook: str) -> Sequence[str]:
    query = select(DeliveryProgressRow.run).where(
        col(DeliveryProgressRow.webhook) == webhook, col(DeliveryProgressRow.due_at) < 0
    )
    return session.exec(query).all()


def request_redelivery_from_first_event(session: Session, webhook: str, run: str) -> None:
    """Deliver the run again from its first event; a due time before all others marks it."""
    again = {"seq": 0, "attempts": 0, "due_at": AGAIN}
    new = create_insert(session, DeliveryProgressRow).values(webhook=webhook, run=run, **again)
    session.execute(new.on_conflict_do_update(index_elements=["webhook", "run"], set_=again))


def add_webhook(session: Session, webhook: WebhookRow) -> None:
    """Add the webhook. Earlier events are not delivered."""
    session.add(webhook)
    session.flush()
    runs = session.exec(select(RunRow.id).where(col(RunRow.ended_at).is_(None))).all()
    rollouts = session.exec(select(RolloutRow.id).where(col(RolloutRow.state).in_(UNENDED))).all()
    for run in (*runs, *rollouts):
        newest = session.exec(select(func.max(EventRow.seq)).where(col(EventRow.run) == run)).one()
        session.add(DeliveryProgressRow(webhook=webhook.id, run=run, seq=newest or 0))


def record_progress(
    session: Session,
    row: DeliveryProgressRow,
    *,
    previous: DeliveryProgressRow,
    delivered: int = 0,
    dropped: int = 0,
    problem: str | None = "",
) -> None:
    """Store how far a webhook has come from `previous`, unless it was deleted or asked for again meanwhile.

    A `problem` of None leaves the last one as it is.
    """
    counts = {"delivered": WebhookRow.delivered + delivered, "dropped": WebhookRow.dropped + dropped}
    change = counts if problem is None else {**counts, "problem": problem}
    session.execute(update(WebhookRow).where(col(WebhookRow.id) == row.webhook).values(change))
    held = session.get(DeliveryProgressRow, (row.webhook, row.run), with_for_update=True)
    is_unchanged = held is None or (held.seq, held.due_at) == (previous.seq, previous.due_at)
    if session.get(WebhookRow, row.webhook) and is_unchanged:
        session.merge(row)
