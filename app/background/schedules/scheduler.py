"""The task that starts scheduled runs, stops them at the end of their window and records missed times."""

import asyncio
from datetime import UTC, datetime

from sqlmodel import Session

from app.background.schedules.cron_times import compute_firing
from app.background.schedules.schedule_editing import create_order_from_schedule, decode_rollout_terms
from app.background.schedules.schedule_start_grace_and_time_limit import is_window_over
from app.errors import Rejected, TemperError
from app.events.kinds import RolloutOrdered, RunQueued
from app.events.record import Recorded
from app.runs.commands_to_runs import command_run
from app.runs.order import create_run_request
from app.runs.rollout.named_host_groups_and_selection import select_hosts
from app.runs.rollout.rollout_request import RolloutSpec, create_rollout_request
from app.runs.rollout.rollout_submission_and_commands import command_rollout, create_random_rollout_id
from app.runtime.runtime import Runtime, create_random_run_id
from app.store import run_queries, schedules
from app.store.host_groups import read_groups
from app.store.models import ScheduleRow
from app.store.periodic_background_task_base import PeriodicTask
from app.store.rollouts import RolloutRow, write_first_event


class Scheduler(PeriodicTask):
    name, every, consequence = "schedules", 2.0, "schedules do not start runs"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._any, self._seen = True, -1
        """Whether schedules may exist, and the database version at the last check."""

    def note_version_and_check_if_schedules_may_be_due(self) -> bool:
        """Return True unless there are no schedules and the database has not changed since the last look."""
        version, before = self._runtime.changes.version(), self._seen
        self._seen = version
        return self._any or version != before

    async def fire_due_and_stop_overdue(self, now: float) -> None:
        if begun := await asyncio.to_thread(self._fire_due_schedules, now):
            self._runtime.bus.publish(begun)
            self._runtime.offers.request_offer_round()
        self._any = await asyncio.to_thread(self._stop_overdue_and_check_for_schedules, now)

    async def _run_once(self) -> None:
        if self._runtime.is_leader and self.note_version_and_check_if_schedules_may_be_due():
            self._any = True  # until a look has come to its end
            await self.fire_due_and_stop_overdue(self._runtime.clock.now())

    def _fire_due_schedules(self, now: float) -> list[Recorded]:
        """Store the next time of each due schedule and return the requests to submit, so no time fires twice."""
        begun: list[Recorded] = []
        with Session(self._runtime.database) as session, session.begin():
            for row in schedules.lock_and_list_due_schedules(session, now):
                try:
                    found = compute_firing(row.cron, row.zone, row.next_at, now, row.window_seconds)
                except Rejected as exc:  # its zone is not known here any more; it stays due until it is
                    row.outcome, row.unkept = f"Cannot start: {exc}", True
                    continue
                missed = _describe_missed(found.missed, row.next_at)
                row.next_at = found.next_at
                row.outcome, row.unkept = missed.strip(), bool(found.missed)
                if found.at is not None:
                    begun += self._fire_schedule(session, row, found.at, missed)
                session.add(row)
        return begun

    def _fire_schedule(self, session: Session, row: ScheduleRow, due_at: float, missed_text: str) -> list[Recorded]:
        if busy := self._describe_blocking_work(session, row):
            row.outcome, row.unkept = f"{missed_text}Skipped at {_format_time(due_at)}: {busy}.", True
            return []
        try:
            request = self._create_rollout_request(session, row) if row.rollout else self._create_run_request(row)
        except TemperError as exc:
            row.outcome, row.unkept = f"{missed_text}Did not start at {_format_time(due_at)}: {exc}", True
            return []
        row.fired_at, row.stopped = due_at, False
        if isinstance(request, RolloutOrdered):
            row.run = create_random_rollout_id()
            started = f"rollout {row.run} on {len(request.hosts)} hosts"
        else:
            row.run = create_random_run_id()
            started = f"run {row.run}"
        row.outcome = f"{missed_text}Started {started} at {_format_time(due_at)}."
        return write_first_event(session, row.run, request)

    def _describe_blocking_work(self, session: Session, row: ScheduleRow) -> str:
        """Return which unended run or rollout blocks the schedule, or an empty string."""
        if row.rollout:
            before = session.get(RolloutRow, row.run)
            return f"rollout {before.id} has not ended" if before and before.ended_at is None else ""
        busy = run_queries.list_unended_runs(session, row.host)
        return f"run {busy[0].id} was still working on {row.host}" if busy else ""

    def _create_run_request(self, row: ScheduleRow) -> RunQueued:
        settings = self._runtime.settings
        order = create_order_from_schedule(row, settings.speed)
        return create_run_request(order, self._runtime.lineup, settings.hosts_folder)

    def _create_rollout_request(self, session: Session, row: ScheduleRow) -> RolloutOrdered:
        settings = self._runtime.settings
        hosts = select_hosts(row.host, settings.hosts_folder, read_groups(session))
        order = create_order_from_schedule(row, settings.speed)
        wanted = RolloutSpec(order=order, hosts=hosts, words=row.host, terms=decode_rollout_terms(row))
        return create_rollout_request(wanted, self._runtime.lineup, settings.hosts_folder)

    def _stop_overdue_and_check_for_schedules(self, now: float) -> bool:
        """Stop runs and rollouts whose window is over. Return True if any schedules exist."""
        with Session(self._runtime.database) as session:
            rows = schedules.list_schedules(session)
        for row in rows:
            if is_window_over(row.fired_at, now, row.window_seconds) and not row.stopped:
                try:
                    self._stop_scheduled_run_or_rollout(row)
                except Rejected:  # it has ended or is stopping
                    self._record_nothing_to_stop(row)
        return bool(rows)

    def _stop_scheduled_run_or_rollout(self, row: ScheduleRow) -> None:
        """Stop the schedule's run or rollout, then record it; a crash in between only repeats the stop."""
        by, reason = f"schedule {row.id}", "its window is over"
        if row.rollout:
            command_rollout(self._runtime.database, row.run, "stop", by=by, reason=reason)
        with Session(self._runtime.database) as session, session.begin():
            if not row.rollout and (run := run_queries.find_run(session, row.run)):
                command_run(session, run, "stop", by=by, reason=reason)
            stored = schedules.require_schedule(session, row.id)
            stored.outcome, stored.stopped = f"{stored.outcome} Stopped at the end of its window.", True
            session.add(stored)

    def _record_nothing_to_stop(self, row: ScheduleRow) -> None:
        with Session(self._runtime.database) as session, session.begin():
            if stored := session.get(ScheduleRow, row.id):
                stored.stopped = True


def _describe_missed(missed: int, since: float) -> str:
    """Return a sentence about the start times that passed while no process worked; empty if there are none."""
    times = "1 start time" if missed == 1 else f"{missed} start times"
    return f"Missed {times} since {_format_time(since)}: Temper was not running. " if missed else ""


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
