"""Queries on runs, chains and idempotency keys. Each takes a session; its owner commits."""

from collections.abc import Sequence
from statistics import median

from sqlalchemy import delete, func
from sqlmodel import Session, col, select

from app.errors import Rejected
from app.store.models import EventRow, IdempotencyRow, Row, RunRow

UNENDED = ("queued", "running", "paused")
KEEP_KEY_SECONDS = 24 * 3600.0
_PACE_RUNS = 5


def require_row(session: Session, table: type[Row], noun: str, name: str) -> Row:
    """Return the row, or raise Rejected. `noun`: its word in commands and addresses."""
    if row := session.get(table, name):
        return row
    places = f"temper {noun} list and GET /api/v1/{noun}s"
    raise Rejected(noun, f"there is no {noun} {name[:40]!a}: {places} show the {noun}s.", "not-found")


def read_last_link(session: Session, chain: str) -> tuple[int, str] | None:
    """Return seq and hash of the newest line of a run's, a rollout's or the audit log; None if it is empty."""
    newest = select(EventRow.seq, EventRow.hash).where(EventRow.run == chain).order_by(col(EventRow.seq).desc())
    return session.exec(newest.limit(1)).first()


def find_run(session: Session, run_id: str) -> RunRow | None:
    return session.get(RunRow, run_id)


def find_up_to_five_runs_by_id_prefix(session: Session, prefix: str) -> Sequence[RunRow]:
    return session.exec(select(RunRow).where(col(RunRow.id).startswith(prefix, autoescape=True)).limit(5)).all()


def find_newest_run(session: Session, host: str | None = None) -> RunRow | None:
    query = select(RunRow).order_by(col(RunRow.queued_at).desc()).limit(1)
    return session.exec(query.where(col(RunRow.host) == host) if host else query).first()


def find_median_seconds_per_finding(session: Session, host: str) -> float | None:
    """Return the median time per finding of the host's last runs that changed at once; None if there is none."""
    query = select(RunRow).where(col(RunRow.host) == host, col(RunRow.mode) == "auto", col(RunRow.findings) > 0)
    query = query.where(col(RunRow.started_at).is_not(None), col(RunRow.ended_at).is_not(None))
    last = session.exec(query.order_by(col(RunRow.queued_at).desc()).limit(_PACE_RUNS)).all()
    took = [(row.ended_at - row.started_at) / row.findings for row in last if row.ended_at and row.started_at]
    return median(took) if took else None


def list_hosts_newest_started_runs(session: Session, only_if_newest_is_in_state: str = "") -> Sequence[RunRow]:
    """Return the newest started run of each host, or only those in this state. Of runs queued at once, take one."""
    started = col(RunRow.started_at).is_not(None)
    at = func.max(RunRow.queued_at).label("at")
    newest = select(RunRow.host, at).where(started).group_by(col(RunRow.host)).subquery()
    same = (col(RunRow.host) == newest.c.host) & (col(RunRow.queued_at) == newest.c.at)
    one_per_host = select(func.max(RunRow.id)).join(newest, same).where(started).group_by(col(RunRow.host))
    query = select(RunRow).where(col(RunRow.id).in_(one_per_host)).order_by(col(RunRow.host))
    return session.exec(
        query.where(RunRow.state == only_if_newest_is_in_state) if only_if_newest_is_in_state else query
    ).all()


def list_newest_runs(session: Session, limit: int, allowed_run_ids: Sequence[str] | None = None) -> Sequence[RunRow]:
    query = select(RunRow).order_by(col(RunRow.queued_at).desc()).limit(limit)
    if allowed_run_ids is not None:
        query = query.where(col(RunRow.id).in_(allowed_run_ids))
    return session.exec(query).all()


def list_unended_runs(session: Session, host: str | None = None) -> Sequence[RunRow]:
    query = select(RunRow).where(col(RunRow.state).in_(UNENDED)).order_by(col(RunRow.queued_at))
    return session.exec(query.where(col(RunRow.host) == host) if host else query).all()


def list_hosts_with_unended_runs(session: Session) -> set[str]:
    """Return the hosts with an unended run."""
    return set(session.exec(select(RunRow.host).where(col(RunRow.state).in_(UNENDED))))


def has_unended_runs(session: Session) -> bool:
    return session.exec(select(RunRow.id).where(col(RunRow.state).in_(UNENDED)).limit(1)).first() is not None


def list_runs_queued_between(
    session: Session, since: float, until: float, person: str | None = None
) -> Sequence[RunRow]:
    """Return the runs ordered in [since, until), of one person if `person` is set."""
    query = select(RunRow).where(col(RunRow.queued_at) >= since, col(RunRow.queued_at) < until)
    if person is not None:
        query = query.where(RunRow.whose == person)
    return session.exec(query.order_by(col(RunRow.queued_at))).all()


def find_idempotency_row(session: Session, key: str, now: float) -> IdempotencyRow | None:
    """Return the row of the idempotency key, or None if it is unknown or a day old."""
    row = session.get(IdempotencyRow, key)
    return row if row and row.at >= now - KEEP_KEY_SECONDS else None


def get_or_create_idempotency_row(session: Session, key: str, digest: str, run: str, now: float) -> IdempotencyRow:
    """Return the row of the idempotency key: a new one for `run`, or the existing one."""
    session.execute(delete(IdempotencyRow).where(col(IdempotencyRow.at) < now - KEEP_KEY_SECONDS))
    row = session.get(IdempotencyRow, key)
    if row is None:
        row = IdempotencyRow(key=key, digest=digest, run=run, at=now)
        session.add(row)
    return row
