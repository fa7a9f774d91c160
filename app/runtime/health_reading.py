"""Reads the conditions of Temper's health: of this process at once, of database and disk in a thread."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import func
from sqlmodel import Session, col, select

from app.events.kinds import ApprovalGiven, RunQueued, RunWaiting
from app.runtime.health_faults import SILENT_NODE, Conditions, HealthFault, StoredConditions, find_faults
from app.runtime.runtime import WAITS, Runtime
from app.runtime.stalled_run_detection import IN_TURN, RunProgress, find_silences
from app.store import attention_queries, nodes
from app.store.leases import LeaseRow
from app.store.models import EventRow, RunRow
from app.store.nodes import NodeStatus
from app.store.run_queries import UNENDED
from app.store.session_shared_within_request import open_read_session

NO_RUN = ""
"""Of pages that show more than one run."""


UNKNOWN = StoredConditions()


def read_conditions(runtime: Runtime, stored: StoredConditions = UNKNOWN) -> Conditions:
    """Read the conditions of this moment, without waiting for anything."""
    polling = runtime.board.polling_since
    return Conditions(
        now=runtime.clock.now(),
        engines=dict(runtime.board.states),
        seated={seat.engine for seat in runtime.lineup.seats.values()},
        simulator=None if runtime.simulator is None else runtime.simulator.is_running,
        unwritten=runtime.writer.stalled_seconds,
        broken_log=runtime.writer.broken.is_set(),
        unanswered=runtime.clock.seconds_since_answer,
        unpolled=time.monotonic() - runtime.board.polled_at,
        waits_for_engines=0.0 if polling is None else time.monotonic() - polling,
        **vars(stored),
    )


def read_marker_of_change_on_any_page(runtime: Runtime) -> object:
    """Return what differs when pages have something new to show, apart from figures. Reads no table."""
    disk = runtime.disk.measure(runtime.settings.data, runtime.clock.now())
    faults = find_faults(read_conditions(runtime, StoredConditions(disk=disk)))
    return runtime.changes.version(), [fault.text for fault in faults]


class Holder(NamedTuple):
    """Who works on a run, and since when."""

    node: NodeStatus | None
    since: float


class _Head(NamedTuple):
    """An unended run with its newest event."""

    run: str
    host: str
    state: str
    waiting_for: str
    at: float
    kind: str


def read_faults(runtime: Runtime, run: str = NO_RUN) -> tuple[HealthFault, ...]:
    """Return the faults that concern the run, or all of this server. Blocks."""
    return find_faults(read_conditions(runtime, read_stored_conditions(runtime, [run])[run]))


def read_stored_conditions(runtime: Runtime, runs: Sequence[str] = (NO_RUN,)) -> dict[str, StoredConditions]:
    """Return what concerns each of these runs, and for NO_RUN all of them. Blocks."""
    with open_read_session(runtime.database) as session:
        heads = _list_unended_runs(session)
        holders = _read_holders(session, runtime) if heads else {}
        seen = _read_progress(session, runtime, heads, holders) if heads else ()
        progress = {one.run: one for one in seen}
    disk = runtime.disk.measure(runtime.settings.data, runtime.clock.now())
    stored = {NO_RUN: StoredConditions(runs=tuple(progress.values()), disk=disk)}
    for head in heads:
        if head.run in runs:
            alone = StoredConditions(runs=(progress[head.run],), disk=disk)
            stored[head.run] = _add_wait_and_lost_worker(runtime, head, holders.get(head.run), alone)
    return stored | {run: StoredConditions(disk=disk) for run in runs if run not in stored}


def _add_wait_and_lost_worker(
    runtime: Runtime, run_head: _Head, holder: Holder | None, stored: StoredConditions
) -> StoredConditions:
    """Add what a run's own page names at once: its wait, its silent node, and that no process has it."""
    if run_head.state != "running":
        return stored
    if run_head.waiting_for:
        for one in runtime.store.read_events_of_kinds_newest_first(run_head.run, None, WAITS, 1):
            if isinstance(one.event, RunWaiting):
                stored = replace(stored, wait=(one.at, one.event))
    node = holder.node if holder else None
    silent = node if node and node.silent_seconds > SILENT_NODE else None
    return replace(stored, silent_worker=silent, left_since=None if holder else run_head.at)


def _list_unended_runs(session: Session) -> list[_Head]:
    """Return the unended runs in the order of the queue."""
    newest = select(EventRow).where(EventRow.run == RunRow.id).order_by(col(EventRow.seq).desc()).limit(1)
    at, kind = (newest.with_only_columns(one).scalar_subquery() for one in (col(EventRow.at), col(EventRow.kind)))
    query = select(RunRow, func.coalesce(at, RunRow.queued_at), func.coalesce(kind, ""))
    unended = query.where(col(RunRow.state).in_(UNENDED)).order_by(col(RunRow.queued_at), col(RunRow.id))
    return [_Head(run.id, run.host, run.state, run.waiting_for, *newest) for run, *newest in session.exec(unended)]


def _read_holders(session: Session, runtime: Runtime) -> dict[str, Holder]:
    """Return the runs that some process works on."""
    if not runtime.leases:
        return {run: Holder(None, since) for run, since in runtime.durable.taken_at.items()}
    living = {run: node for node in nodes.list_unended_node_statuses(session) for run in node.runs}
    claims = session.exec(select(LeaseRow.name, LeaseRow.claim).where(col(LeaseRow.name).in_(living))).all()
    return {run: Holder(living[run], claim / 1000) for run, claim in claims}  # a claim counts milliseconds


def _read_progress(
    session: Session, runtime: Runtime, heads: Sequence[_Head], holders: Mapping[str, Holder]
) -> Iterator[RunProgress]:
    """Yield each run's progress. What costs queries is read only of those that seem silent."""
    now = runtime.clock.now()
    seen = list(_build_run_progress(runtime, heads, holders))
    silent = {one.run for one in find_silences(seen, now)}
    asking = set(attention_queries.list_run_ids_awaiting_approval(session)) if silent else set()
    for run in seen:
        yield _refine_silent_run_progress(session, runtime, run, asking) if run.run in silent else run


def _build_run_progress(
    runtime: Runtime, heads: Sequence[_Head], holders: Mapping[str, Holder]
) -> Iterator[RunProgress]:
    me, asked = runtime.leases.node if runtime.leases else "", runtime.queues.list_waiting_hosts()
    busy = {one.host for one in heads if one.state != "queued"}
    for head in heads:
        holder = holders.get(head.run)
        behind = head.state == "queued" and holder is None and head.host in busy
        busy.add(head.host)
        yield RunProgress(
            run=head.run,
            host=head.host,
            status=head.state,
            at=max(head.at, holder.since if holder else runtime.began_at),
            is_held=holder is not None,
            step=head.kind,
            waiting_for=head.waiting_for,
            may_wait=behind or bool(head.waiting_for) or (head.host in asked and head.kind not in IN_TURN),
            is_elsewhere=bool(holder and holder.node and holder.node.name != me),
        )


def _refine_silent_run_progress(
    session: Session, runtime: Runtime, run: RunProgress, runs_awaiting_approval: Collection[str]
) -> RunProgress:
    if not run.is_held:
        at = max(run.at, _get_newest_run_end(session, run.host))
        return replace(run, at=at, may_wait=_has_node_failed_to_reach_host(session, run, runtime.clock.now()))
    if run.step in IN_TURN:
        begun = next(runtime.store.read_events(run.run, upto=1)).event
        return replace(run, stall_seconds=begun.budget.stall_seconds) if isinstance(begun, RunQueued) else run
    return replace(
        run, may_wait=run.run in runs_awaiting_approval and not _has_just_received_all_approvals(runtime, run)
    )


def _get_newest_run_end(session: Session, host: str) -> float:
    """Return when a run last ended on the host, which it had kept from the others; 0 if none has."""
    return session.exec(select(func.max(RunRow.ended_at)).where(RunRow.host == host)).one() or 0.0


def _has_node_failed_to_reach_host(session: Session, run: RunProgress, now: float) -> bool:
    """Return whether nodes that could not reach its host have offered it to others recently."""
    lease = session.get(LeaseRow, run.run)
    return lease is not None and bool(nodes.find_failed_reach_time_by_node(lease, now))


def _has_just_received_all_approvals(runtime: Runtime, run: RunProgress) -> bool:
    if run.step != "approval.given":
        return False
    return all(
        isinstance(one.event, ApprovalGiven) and one.event.given >= one.event.of
        for one in runtime.store.read_events_of_kinds_newest_first(run.run, None, ("approval.given",), 1)
    )
