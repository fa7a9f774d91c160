"""Runs by who ordered them, with their token counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from app.store.models import CredentialRow, RunRow


@dataclass(frozen=True)
class OrderedRun:
    run: str
    whose: str
    token: str
    simulated: bool
    at: float
    tokens_in: int
    tokens_out: int


def list_ordered_runs(session: Session, since: float, until: float, whose: str | None = None) -> Sequence[OrderedRun]:
    """Return the runs ordered in [since, until), of one person if `whose` is set."""
    query = select(RunRow).where(col(RunRow.queued_at) >= since, col(RunRow.queued_at) < until)
    if whose is not None:
        query = query.where(RunRow.whose == whose)
    rows = session.exec(query.order_by(col(RunRow.queued_at))).all()
    return [
        OrderedRun(row.id, row.whose, row.token, row.simulated, row.queued_at, row.tokens_in, row.tokens)
        for row in rows
    ]


def list_token_labels(session: Session) -> dict[str, str]:
    """Return the labels of API tokens by id, ended ones included."""
    rows = session.exec(select(CredentialRow).where(CredentialRow.kind == "token")).all()
    return {row.id: row.label for row in rows}
