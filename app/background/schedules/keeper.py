"""The task that starts scheduled runs, stops them at the end of their window and records missed times."""

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime

from sqlmodel import Session

from app.background.schedules.timing import firing
from app.background.schedules.wanted import order_of, terms_of
from app.errors import NotTaken, TemperError
from app.events.kinds import RolloutAsked, RunQueued
from app.runs.command import command
from app.runs.order import queued
from app.runs.rollout.asked import Rollout, asked_of
from app.runs.rollout.chosen import chosen
from app.runs.rollout.command import ask_for, handle_rollout, new_rollout_id
from app.runtime.runtime import Runtime, new_run_id
from app.store import queries, schedules
from app.store.groups import groups
from app.store.models import ScheduleRow
from app.store.rollouts import RolloutRow
from app.store.rounds import Rounds

Begun = RunQueued | RolloutAsked
"""First event of the run or rollout that a schedule starts."""


class Keeper(Rounds):
    name, every, without = "schedules", 2.0, "schedules are not kept"

    def __init__(self, runtime: Runtime) -> None:
        self._worker = runtime
        self._any, self._seen = True, -1
        """Whether schedules may exist, and the database version at the last check."""

    def due(self) -> bool:
        """Return True unless there are no schedules and the database has not changed since the last look."""
        version, before = self._worker.changes.version(), self._seen
        self._seen = version
        return self._any or version != before

    async def look(self, now: float) -> None:
        for run, request in await asyncio.to_thread(self._take_up, now):
            if isinstance(request, RolloutAsked):
                await asyncio.to_thread(ask_for, self._worker.database, request, run)
            else:
                await self._worker.submit(request, run)
        await asyncio.to_thread(self._end_rollouts, now)
        self._any = await asyncio.to_thread(self._end_windows, now)

    async def _round(self) -> None:
        if self._worker.leads and self.due():
            self._any = True  # until a look has finished
            await self.look(time.time())

    def _take_up(self, now: float) -> list[tuple[str, Begun]]:
        """Store the next time of each due schedule and return the requests to submit, so no time fires twice."""
        begun: list[tuple[str, Begun]] = []
        with Session(self._worker.database) as session, session.begin():
            for row in schedules.due(session, now):
                found = firing(row.cron, row.zone, row.next_at, now, row.window_seconds)
                missed = (
                    f"{found.missed} missed since {_clock(row.next_at)}, Temper did not run. " if found.missed else ""
                )
                row.next_at = found.next_at
                row.outcome, row.unkept = missed.strip(), bool(found.missed)
                if found.at is not None:
                    runs = [(run, one) for run, one in begun if isinstance(one, RunQueued)]
                    taken = [run for run, request in runs if request.host == row.host]
                    begun += self._begin(session, row, found.at, missed, taken)
                session.add(row)
        return begun

    def _begin(
        self, session: Session, row: ScheduleRow, at: float, missed: str, taken: list[str]
    ) -> list[tuple[str, Begun]]:
        if busy := self._busy(session, row, taken):
            row.outcome, row.unkept = f"{missed}Skipped at {_clock(at)}: {busy}.", True
            return []
        try:
            request = self._roll_out(session, row) if row.rollout else self._run(row)
        except TemperError as exc:
            row.outcome, row.unkept = f"{missed}Nothing at {_clock(at)}: {exc}", True
            return []
        if isinstance(request, RolloutAsked):
            row.run = new_rollout_id()
            told = f"Rollout {row.run} over {len(request.hosts)} hosts"
        else:
            row.run = new_run_id()
            told = f"Run {row.run}"
        row.fired_at, row.stopped = at, False
        row.outcome = f"{missed}{told} at {_clock(at)}."
        return [(row.run, request)]

    def _busy(self, session: Session, row: ScheduleRow, taken: list[str]) -> str:
        """Return which unended run or rollout blocks the schedule, or an empty string."""
        if row.rollout:
            before = session.get(RolloutRow, row.run)
            return f"rollout {before.id} has not ended" if before and before.ended_at is None else ""
        busy = [run.id for run in queries.unended(session, row.host)] or taken
        return f"run {busy[0]} was still at work on {row.host}" if busy else ""

    def _run(self, row: ScheduleRow) -> RunQueued:
        settings = self._worker.settings
        return queued(order_of(row, settings.speed), self._worker.lineup, settings.hosts)

    def _roll_out(self, session: Session, row: ScheduleRow) -> RolloutAsked:
        settings = self._worker.settings
        hosts = chosen(row.host, settings.hosts, groups(session))
        wanted = Rollout(order=order_of(row, settings.speed), hosts=hosts, words=row.host, terms=terms_of(row))
        return asked_of(wanted, self._worker.lineup, settings.hosts)

    def _end_rollouts(self, now: float) -> None:
        """Stop rollouts whose window is over, then record it; a crash in between only repeats the stop."""
        with Session(self._worker.database) as session:
            over = [
                (row.run, row.id)
                for row in schedules.schedules(session)
                if row.rollout and row.window_seconds and row.fired_at and now >= row.fired_at + row.window_seconds
            ]
        for rollout, schedule in over:
            with suppress(NotTaken):  # it has ended or is stopping
                reason = "its window is over"
                handle_rollout(self._worker.database, rollout, "stop", by=f"schedule {schedule}", reason=reason)
                self._told(schedule)

    def _told(self, schedule: str) -> None:
        with Session(self._worker.database) as session, session.begin():
            row = schedules.known(session, schedule)
            row.outcome, row.stopped = f"{row.outcome} Stopped at the end of its window.", True
            session.add(row)

    def _end_windows(self, now: float) -> bool:
        """Stop runs whose window is over. Return True if any schedules exist."""
        with Session(self._worker.database) as session, session.begin():
            rows = schedules.schedules(session)
            for row in rows:
                over = row.window_seconds and row.fired_at and now >= row.fired_at + row.window_seconds
                run = queries.run(session, row.run) if over and not row.rollout else None
                if run is None or run.state not in queries.UNENDED or row.stopped:
                    continue
                command(session, run, "stop", by=f"schedule {row.id}", reason="its window is over")
                row.outcome, row.stopped = f"{row.outcome} Stopped at the end of its window.", True
                session.add(row)
            return bool(rows)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
