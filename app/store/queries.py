"""Queries on runs, lessons and commands. Each takes a session; its owner commits."""

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, func, update
from sqlmodel import Session, col, select

from app.store.clock import database_time
from app.store.models import CommandRow, LessonRow, RunRow

UNENDED = ("queued", "running", "paused")
DROP_AFTER = 3
"""Uses without success after which a lesson is dropped."""


def find_run(session: Session, run_id: str) -> RunRow | None:
    return session.get(RunRow, run_id)


def find_runs_by_prefix(session: Session, prefix: str) -> Sequence[RunRow]:
    return session.exec(select(RunRow).where(col(RunRow.id).startswith(prefix, autoescape=True)).limit(5)).all()


def find_newest_run(session: Session, host: str | None = None) -> RunRow | None:
    query = select(RunRow).order_by(col(RunRow.queued_at).desc()).limit(1)
    return session.exec(query.where(col(RunRow.host) == host) if host else query).first()


def list_newest_run_per_host(session: Session) -> Sequence[RunRow]:
    """Return the newest started run of each host."""
    started = col(RunRow.started_at).is_not(None)
    at = func.max(RunRow.queued_at).label("at")
    newest = select(RunRow.host, at).where(started).group_by(col(RunRow.host)).subquery()
    same = (col(RunRow.host) == newest.c.host) & (col(RunRow.queued_at) == newest.c.at)
    return session.exec(select(RunRow).join(newest, same)).all()


def list_newest_runs(session: Session, limit: int, only: Sequence[str] | None = None) -> Sequence[RunRow]:
    query = select(RunRow).order_by(col(RunRow.queued_at).desc()).limit(limit)
    if only is not None:
        query = query.where(col(RunRow.id).in_(only))
    return session.exec(query).all()


def list_unended_runs(session: Session, host: str | None = None) -> Sequence[RunRow]:
    query = select(RunRow).where(col(RunRow.state).in_(UNENDED)).order_by(col(RunRow.queued_at))
    return session.exec(query.where(col(RunRow.host) == host) if host else query).all()


def list_busy_hosts(session: Session) -> set[str]:
    """Return the hosts with an unended run."""
    return set(session.exec(select(RunRow.host).where(col(RunRow.state).in_(UNENDED))))


def has_unended_runs(session: Session) -> bool:
    return session.exec(select(RunRow.id).where(col(RunRow.state).in_(UNENDED)).limit(1)).first() is not None


def list_lessons_for_rule(session: Session, rule: str, limit: int) -> Sequence[LessonRow]:
    """Return the lessons with the best success rate first, without those that never helped."""
    query = (
        select(LessonRow)
        .where(col(LessonRow.rule) == rule, (col(LessonRow.hits) > 0) | (col(LessonRow.uses) < DROP_AFTER))
        .order_by((col(LessonRow.hits) * 1.0 / (col(LessonRow.uses) + 1)).desc(), col(LessonRow.at).desc())
    )
    return session.exec(query.limit(limit)).all()


def find_runs_with_commands(session: Session, runs: Collection[str]) -> set[str]:
    """Return the runs that have an open command."""
    waiting = select(CommandRow.run).where(col(CommandRow.run).in_(runs), col(CommandRow.taken_at).is_(None))
    return set(session.exec(waiting))


_WAITING = (
    select(CommandRow)
    .where(col(CommandRow.run) == bindparam("run"), col(CommandRow.taken_at).is_(None))
    .order_by(col(CommandRow.id))
)
"""Built once: it is executed often."""


def list_open_commands(session: Session, run_id: str) -> list[CommandRow]:
    return list(session.exec(_WAITING, params={"run": run_id}).all())


def close_commands(session: Session, ids: Sequence[int]) -> None:
    session.execute(update(CommandRow).where(col(CommandRow.id).in_(ids)).values(taken_at=database_time(session)))
