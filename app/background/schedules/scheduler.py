"""The task that starts scheduled runs, stops them at the end of their window and records missed times."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from sqlmodel import Session

from app.background.schedules.cron_times import compute_firing
from app.background.schedules.schedule_spec import create_scheduled_order, decode_terms
from app.errors import Rejected, TemperError
from app.events.kinds import RolloutAsked, RunQueued
from app.events.record import Recorded
from app.runs.order import create_run_request
from app.runs.rollout.host_selection import select_hosts
from app.runs.rollout.rollout_control import command_rollout, create_rollout_id
from app.runs.rollout.rollout_request import RolloutSpec, create_rollout_request
from app.runs.run_command import command_run
from app.runtime.runtime import Runtime, create_run_id
from app.store import queries, schedules
from app.store.background_task import PeriodicTask
from app.store.host_groups import read_groups
from app.store.models import ScheduleRow
from app.store.rollouts import RolloutRow, begin_chain


class Scheduler(PeriodicTask):
    name, every, consequence = "schedules", 2.0, "schedules do not start runs"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._any, self._seen = True, -1
        """Whether schedules may exist, and the database version at the last check."""

    def is_look_due(self) -> bool:
        """Return True unless there are no schedules and the database has not changed since the last look."""
        version, before = self._runtime.changes.version(), self._seen
        self._seen = version
        return self._any or version != before

    async def run_due_schedules(self, now: float) -> None:
        if begun := await asyncio.to_thread(self._fire_due_schedules, now):
            self._runtime.bus.publish(begun)
            self._runtime.offers.look_now()
        await asyncio.to_thread(self._end_rollouts, now)
        self._any = await asyncio.to_thread(self._end_windows, now)

    async def _run_once(self) -> None:
        if self._runtime.is_leader and self.is_look_due():
            self._any = True  # until a look has come to its end
            await self.run_due_schedules(self._runtime.clock.now())

    def _fire_due_schedules(self, now: float) -> list[Recorded]:
        """Store the next time of each due schedule and return the requests to submit, so no time fires twice."""
        begun: list[Recorded] = []
        with Session(self._runtime.database) as session, session.begin():
            for row in schedules.list_due_schedules(session, now):
                found = compute_firing(row.cron, row.zone, row.next_at, now, row.window_seconds)
                missed = (
                    f"{found.missed} missed since {_format_time(row.next_at)}, Temper did not run. "
                    if found.missed
                    else ""
                )
                row.next_at = found.next_at
                row.outcome, row.unkept = missed.strip(), bool(found.missed)
                if found.at is not None:
                    begun += self._fire_schedule(session, row, found.at, missed)
                session.add(row)
        return begun

    def _fire_schedule(self, session: Session, row: ScheduleRow, at: float, missed: str) -> list[Recorded]:
        if busy := self._describe_busy(session, row):
            row.outcome, row.unkept = f"{missed}Skipped at {_format_time(at)}: {busy}.", True
            return []
        try:
            request = self._create_rollout_request(session, row) if row.rollout else self._create_run_request(row)
        except TemperError as exc:
            row.outcome, row.unkept = f"{missed}Nothing at {_format_time(at)}: {exc}", True
            return []
        row.fired_at, row.stopped = at, False
        if isinstance(request, RolloutAsked):
            row.run = create_rollout_id()
            row.outcome = f"{missed}Rollout {row.run} over {len(request.hosts)} hosts at {_format_time(at)}."
        else:
            row.run = create_run_id()
            row.outcome = f"{missed}Run {row.run} at {_format_time(at)}."
        return begin_chain(session, row.run, request)

    def _describe_busy(self, session: Session, row: ScheduleRow) -> str:
        """Return which unended run or rollout blocks the schedule, or an empty string."""
        if row.rollout:
            before = session.get(RolloutRow, row.run)
            return f"rollout {before.id} has not ended" if before and before.ended_at is None else ""
        busy = queries.list_unended_runs(session, row.host)
        return f"run {busy[0].id} was still at work on {row.host}" if busy else ""

    def _create_run_request(self, row: ScheduleRow) -> RunQueued:
        settings = self._runtime.settings
        return create_run_request(
            create_scheduled_order(row, settings.speed), self._runtime.lineup, settings.hosts_folder
        )

    def _create_rollout_request(self, session: Session, row: ScheduleRow) -> RolloutAsked:
        settings = self._runtime.settings
        hosts = select_hosts(row.host, settings.hosts_folder, read_groups(session))
        wanted = RolloutSpec(
            order=create_scheduled_order(row, settings.speed), hosts=hosts, words=row.host, terms=decode_terms(row)
        )
        return create_rollout_request(wanted, self._runtime.lineup, settings.hosts_folder)

    def _end_rollouts(self, now: float) -> None:
        """Stop rollouts whose window is over, then record it; a crash in between only repeats the stop."""
        with Session(self._runtime.database) as session:
            over = [
                (row.run, row.id)
                for row in schedules.list_schedules(session)
                if row.rollout and row.window_seconds and row.fired_at and now >= row.fired_at + row.window_seconds
            ]
        for rollout, schedule in over:
            with suppress(Rejected):  # it has ended or is stopping
                reason = "its window is over"
                command_rollout(self._runtime.database, rollout, "stop", by=f"schedule {schedule}", reason=reason)
                self._record_stopped(schedule)

    def _record_stopped(self, schedule: str) -> None:
        with Session(self._runtime.database) as session, session.begin():
            row = schedules.require_schedule(session, schedule)
            row.outcome, row.stopped = f"{row.outcome} Stopped at the end of its window.", True
            session.add(row)

    def _end_windows(self, now: float) -> bool:
        """Stop runs whose window is over. Return True if any schedules exist."""
        with Session(self._runtime.database) as session, session.begin():
            rows = schedules.list_schedules(session)
            for row in rows:
                over = row.window_seconds and row.fired_at and now >= row.fired_at + row.window_seconds
                run = queries.find_run(session, row.run) if over and not row.rollout else None
                if run is None or run.state not in queries.UNENDED or row.stopped:
                    continue
                command_run(session, run, "stop", by=f"schedule {row.id}", reason="its window is over")
                row.outcome, row.stopped = f"{row.outcome} Stopped at the end of its window.", True
                session.add(row)
            return bool(rows)


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
