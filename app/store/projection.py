"""Projections of the log that lists and prompts read, updated by the transaction that appends."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col

from app.events import kinds
from app.events.record import Recorded
from app.store.db import insert_once
from app.store.models import LessonRow, RunRow, create_row
from app.store.proven_fixes import project_fix


def project_events(session: Session, batch: Sequence[Recorded]) -> None:
    changed: dict[str, dict[str, Any]] = {}
    more: dict[str, Counter[str]] = {}
    for recorded in batch:
        event = recorded.event
        match event:
            case kinds.RunQueued():
                whose = event.whose or event.by
                queued = create_row(RunRow, event, id=recorded.run, state="queued", queued_at=recorded.at, whose=whose)
                session.add(queued)
            case kinds.LessonLearnt(lesson=lesson):
                host = session.get_one(RunRow, recorded.run).host
                insert_once(session, create_row(LessonRow, lesson, host=host, run=recorded.run, at=recorded.at))
            case kinds.AttemptStarted(lessons=lessons):
                _increment_lessons(session, [lesson.id for lesson in lessons], "uses")
            case kinds.ItemPassed(lessons=ids):
                _increment_lessons(session, ids, "hits")
        project_fix(session, recorded, event)
        if values := _find_run_values(recorded):
            changed.setdefault(recorded.run, {}).update(values)
        if counts := find_run_counter_increments(event):
            more.setdefault(recorded.run, Counter()).update(counts)
    if changed or more:
        session.flush()
    for run in changed | more:
        counted = {name: getattr(RunRow, name) + count for name, count in more.get(run, {}).items()}
        row = update(RunRow).where(col(RunRow.id) == run).values(changed.get(run, {}) | counted)
        session.connection().execute(row)


def _increment_lessons(session: Session, ids: Sequence[str], column: str) -> None:
    if ids:
        session.flush()
        more = {column: getattr(LessonRow, column) + 1}
        session.execute(update(LessonRow).where(col(LessonRow.id).in_(ids)).values(more))


def find_run_counter_increments(event: kinds.Event) -> dict[str, int]:
    """Return how much an event adds to the counts of its run's row."""
    match event:
        case kinds.ItemSkipped(waiver=waiver) if waiver:
            return {"waived": 1}
        case kinds.ItemEscalated(reopened=True):
            return {"passed": -1, "escalated": 1}
        case kinds.ActionRolledBack():
            return {"rolled_back": 1}
        case kinds.TurnFinished():
            return {"tokens": event.completion_tokens, "tokens_in": event.prompt_tokens}
    return {event.outcome: 1} if isinstance(event, kinds.ItemEnd) else {}


def _find_run_values(recorded: Recorded) -> dict[str, object]:
    match event := recorded.event:
        case kinds.DriftFound():
            return {"drifted": len(event.rules)}
        case kinds.RunPreparing() | kinds.RunResumed(after_crash=False):
            return {"state": "running"}
        case kinds.RunStarted():
            return {"state": "running", "started_at": recorded.at}
        case kinds.RunScoped():
            return {"findings": len(event.order)}
        case kinds.RunPaused():
            return {"state": "paused"}
        case kinds.RunWaiting():
            return {"waiting_for": event.reason}
        case kinds.RunWaitEnded():
            return {"waiting_for": ""}
        case kinds.RunFinished():
            worse = len(event.regressions)
            return {"state": "finished", "ended_at": recorded.at, "waiting_for": "", "regressed": worse}
        case kinds.RunFailed() | kinds.RunStopped():
            return {"state": event.status, "ended_at": recorded.at, "waiting_for": "", "reason": event.reason}
        case _:
            return {}
