"""What changed since a reader last looked: read for the mission and the fleet page from the log and the inbox."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Cookie, Depends
from sqlalchemy import func
from sqlmodel import Session, col, or_, select

from app.people.rights import get_visible_runs_or_none_for_all
from app.runs.open_decision_reader import DecisionReader
from app.runs.open_decisions import OpenDecision
from app.runtime.health_faults import HealthFault
from app.runtime.health_reading import read_faults
from app.runtime.runtime import Runtime
from app.store.models import EventRow, RunRow
from app.store.run_queries import UNENDED
from app.text.pluralized_counts import count_things
from app.web.deps import TheDecisions, TheRuntime, TheSession
from app.web.pages.appearance_cookie import hash_name_of_signed_in_person
from app.web.url_paths import path_to

VISIT_GAP = 600.0
"""Seconds after which a page that is opened begins a new visit."""
NAMED = 3
"""Runs, hosts and engines that are named; the others are counted."""
ENDINGS = {"finished": "finished", "failed": "failed", "stopped": "was stopped"}


@dataclass(frozen=True)
class Change:
    text: str
    address: str = ""


@dataclass(frozen=True)
class LastLook:
    now: float
    reader: str
    since: float | None
    """The end of the visit before this one; None at the first visit."""
    changes: tuple[Change, ...] = ()


def find_previous_visit_end(cookie: str, reader: str, now: float) -> float | None:
    """Return when the reader's visit before this one ended; None if there was none, or if the cookie is not theirs."""
    since, last, owner = [*cookie.split("-", 2), "", ""][:3]
    try:
        begun, ended = float(since), float(last)
    except ValueError:
        return None
    if owner != reader or not (math.isfinite(begun) and math.isfinite(ended)) or not 0 < begun <= ended <= now:
        return None
    return ended if now - ended > VISIT_GAP else begun


def create_look_reader(
    runtime: TheRuntime,
    decisions: TheDecisions,
    cookie: Annotated[str, Cookie(alias="temper-looked", max_length=80)] = "",
) -> "LookReader":
    return lambda session: collect_changes_unless_shared_link(runtime, session, decisions, cookie)


def collect_changes_unless_shared_link(
    runtime: Runtime, session: Session, decisions: DecisionReader, cookie: str
) -> LastLook | None:
    """Return what changed since the reader's last visit; None for a shared link, whose reader sees one run."""
    if get_visible_runs_or_none_for_all() is not None:
        return None
    now, reader = round(runtime.clock.now(), 1), hash_name_of_signed_in_person()
    since = find_previous_visit_end(cookie, reader, now)
    if since is None:
        return LastLook(now, reader, None)
    changes = (
        *_iterate_ended_run_changes(_list_ended_runs(session, since)),
        *_iterate_fix_changes(_count_fixes(session, since)),
        *_summarize_new_decisions_and_failed_hosts(decisions.list_decisions(), since),
        *_iterate_new_fault_changes(read_faults(runtime), since),
    )
    return LastLook(now, reader, since, changes)


LookReader = Callable[[Session], LastLook | None]
TheLookReader = Annotated[LookReader, Depends(create_look_reader)]


def load_last_look_unless_shared_link(read_look: TheLookReader, session: TheSession) -> LastLook | None:
    return read_look(session)


TheLastLook = Annotated[LastLook | None, Depends(load_last_look_unless_shared_link)]


def _list_ended_runs(session: Session, since: float) -> Sequence[RunRow]:
    query = select(RunRow).where(col(RunRow.ended_at) > since, col(RunRow.state).in_(ENDINGS))
    return session.exec(query.order_by(col(RunRow.ended_at).desc())).all()


def _count_fixes(session: Session, since: float) -> int:
    """Count the findings that were fixed, in runs that are in progress, too."""
    at_work = select(RunRow.id).where(or_(col(RunRow.ended_at) > since, col(RunRow.state).in_(UNENDED)))
    passed = col(EventRow.run).in_(at_work), EventRow.kind == "item.passed", col(EventRow.at) > since
    return session.exec(select(func.count()).select_from(EventRow).where(*passed)).one()


def _iterate_ended_run_changes(ended: Sequence[RunRow]) -> Iterator[Change]:
    if len(ended) > NAMED:
        failed = sum(one.state == "failed" for one in ended)
        yield Change(f"{len(ended)} runs ended{f', {failed} of them failed' if failed else ''}", path_to("runs"))
    else:
        for one in ended:
            yield Change(f"run {one.name or one.id} on {one.host} {ENDINGS[one.state]}", path_to("run", run=one.id))


def _iterate_fix_changes(fix_count: int) -> Iterator[Change]:
    if fix_count:
        yield Change(f"{count_things(fix_count, 'finding')} fixed")


def _summarize_new_decisions_and_failed_hosts(waiting: Sequence[OpenDecision], since: float) -> Iterator[Change]:
    hosts = sorted({one.host for one in waiting if one.kind == "host" and one.since > since})
    new = sum(one.kind != "host" and one.since > since for one in waiting)
    if new:
        text = f"{count_things(new, 'new decision')} {'waits' if new == 1 else 'wait'}"
        yield Change(text, path_to("inbox"))
    if hosts:
        yield Change(f"the last run failed on {_join_first_names(hosts)}", path_to("inbox"))


def _iterate_new_fault_changes(faults: Sequence[HealthFault], since: float) -> Iterator[Change]:
    """Yield what went away and has not come back."""
    gone = [one for one in faults if one.since is not None and one.since > since]
    engines = list(dict.fromkeys(name for one in gone for name in one.engines))
    if engines:
        yield Change(f"{_join_first_names(engines)} went away", path_to("ops"))
    for one in gone:
        if not one.engines:
            yield Change(one.text.rstrip("."), path_to("ops"))


def _join_first_names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
