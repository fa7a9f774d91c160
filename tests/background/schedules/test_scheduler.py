"""The keeper over a real database: what it asks for, and what it says of what it could not."""

import pytest
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, select

from app.background.schedules.schedule_editing import ScheduleSpec, create_schedule_row
from app.background.schedules.scheduler import Scheduler
from app.config import Settings
from app.errors import BadInput
from app.events.bus import Bus
from app.events.kinds import RunQueued
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order
from app.runs.rollout.rollout_request import RolloutTerms
from app.runs.rollout.rollout_submission_and_commands import command_rollout
from app.store.change_monitor import ChangeMonitor
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import CommandRow, RunRow, ScheduleRow
from app.store.rollouts import RolloutRow

HOUR = 3600.0
NIGHT = "0 2 * * *"
MADE = 1795212000.0


class Place:
    """What the keeper sees of a worker: the runs that it orders are never worked on."""

    def __init__(self, folder):
        self.settings = Settings(data=folder, speed=0)
        self.lineup = read_lineup(require_lineup_path("simulated"))
        self.database = open_and_migrate_database(folder / "temper.sqlite")
        self.store = EventStore(self.database)
        self.changes = ChangeMonitor(self.database)
        self.bus, self.offers = Bus(), self

    def request_offer_round(self):
        pass

    @property
    def submitted(self):
        with Session(self.database) as session:
            runs = session.exec(select(RunRow.id).order_by(RunRow.queued_at)).all()
        return {run: next(self.store.read_events(run)).event for run in runs}

    def rollout(self, rollout):
        with Session(self.database) as session:
            return session.get_one(RolloutRow, rollout).state

    def add(self, window_minutes=None, many=None, **words):
        order = Order(**{"mode": "scan", "by": "ada"} | words)
        with Session(self.database, expire_on_commit=False) as session, session.begin():
            wanted = ScheduleSpec(order=order, cron=NIGHT, window_minutes=window_minutes, **(many or {}))
            row = create_schedule_row(wanted, MADE, self.settings.hosts_folder)
            session.add(row)
        return row

    def row(self, schedule):
        with Session(self.database) as session:
            return session.get_one(ScheduleRow, schedule.id)

    def ends(self, run):
        with Session(self.database) as session, session.begin():
            session.get_one(RunRow, run).state = "finished"

    def stops(self):
        with Session(self.database) as session:
            return [row.run for row in session.exec(select(CommandRow).where(CommandRow.verb == "stop"))]


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.changes.close()
    made.database.dispose()


async def test_where_there_are_no_schedules_none_is_looked_for_until_the_database_has_changed(place):
    keeper = Scheduler(place)
    await keeper.fire_due_and_stop_overdue(MADE)
    assert [
        keeper.note_version_and_check_if_schedules_may_be_due(),
        keeper.note_version_and_check_if_schedules_may_be_due(),
    ] == [True, False]
    place.add(rules=("V-257985",))
    assert keeper.note_version_and_check_if_schedules_may_be_due()
    await keeper.fire_due_and_stop_overdue(MADE)
    assert [
        keeper.note_version_and_check_if_schedules_may_be_due(),
        keeper.note_version_and_check_if_schedules_may_be_due(),
    ] == [True, True]  # time alone may make one due


async def test_at_its_time_a_schedule_becomes_a_run_like_any_other_and_once(place):
    row, keeper = place.add(rules=("V-257985",)), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at - 1)
    assert place.submitted == {}
    await keeper.fire_due_and_stop_overdue(row.next_at + 1)
    ((run, request),) = place.submitted.items()
    assert isinstance(request, RunQueued)
    assert (request.mode, request.rules, request.keep) == ("scan", ("V-257985",), True)
    assert (request.by, request.note) == (f"schedule {row.id} of ada", f"schedule {row.id}")
    after = place.row(row)
    assert (after.run, after.fired_at, after.next_at) == (run, row.next_at, row.next_at + 24 * HOUR)
    await keeper.fire_due_and_stop_overdue(row.next_at + 2)
    assert len(place.submitted) == 1


async def test_a_schedule_names_a_run_that_is_on_disk_or_nothing_at_all(place):
    """Whoever dies between the two would leave a schedule that says it started a run that nobody ever sees."""
    row, keeper = place.add(rules=("V-257985",)), Scheduler(place)
    with place.database.begin() as connection:
        connection.exec_driver_sql("create trigger full before insert on event begin insert into full values (1); end")
    with pytest.raises(OperationalError):
        await keeper.fire_due_and_stop_overdue(row.next_at)
    assert (place.row(row).run, place.row(row).next_at, place.submitted) == ("", row.next_at, {})
    with place.database.begin() as connection:
        connection.exec_driver_sql("drop trigger full")
    await keeper.fire_due_and_stop_overdue(row.next_at)
    assert [*place.submitted] == [place.row(row).run]
    assert place.bus.newest[place.row(row).run] == 1, "pages and webhooks of this node hear of it"


async def test_two_never_work_on_one_host_and_the_second_says_so(place):
    first, second, keeper = place.add(), place.add(), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(first.next_at + 1)
    (run,) = place.submitted
    skipped, started = sorted(place.row(row).outcome for row in (first, second))
    assert started.startswith(f"Started run {run} at ")
    assert skipped.endswith(f"run {run} was still working on fixture.")
    assert sorted(place.row(row).unkept for row in (first, second)) == [False, True]
    await keeper.fire_due_and_stop_overdue(first.next_at + 24 * HOUR)
    assert len(place.submitted) == 1, "it is at work still"
    place.ends(run)
    await keeper.fire_due_and_stop_overdue(first.next_at + 48 * HOUR + 1)
    assert len(place.submitted) == 2


async def test_what_was_missed_is_said_and_not_caught_up(place):
    row, keeper = place.add(), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at + 60 * HOUR)
    assert place.submitted == {}
    assert place.row(row).outcome.startswith("Missed 3 start times since ")
    assert "Temper was not running" in place.row(row).outcome
    assert place.row(row).unkept
    await keeper.fire_due_and_stop_overdue(place.row(row).next_at)
    assert not place.row(row).unkept, "this time was kept"


async def test_in_its_window_it_is_caught_up_once_and_stopped_at_the_end(place):
    row, keeper = place.add(mode="auto", window_minutes=120), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at + HOUR)
    (run,) = place.submitted
    await keeper.fire_due_and_stop_overdue(row.next_at + 1.9 * HOUR)
    assert place.stops() == []
    await keeper.fire_due_and_stop_overdue(row.next_at + 2.1 * HOUR)
    await keeper.fire_due_and_stop_overdue(row.next_at + 2.2 * HOUR)
    assert place.stops() == [run]
    assert place.row(row).outcome.endswith("Stopped at the end of its window.")
    assert place.row(row).stopped
    place.ends(run)
    await keeper.fire_due_and_stop_overdue(row.next_at + 24 * HOUR)
    assert not place.row(row).stopped, "it is another run"


async def test_of_many_hosts_it_asks_for_a_rollout_and_ends_it_with_its_window(place):
    words = {"words": "fixture*", "hosts": ("fixture", "fixture-2"), "terms": RolloutTerms(at_once=3, waves="1,rest")}
    (place.settings.hosts_folder / "fixture-2").mkdir(parents=True)
    row, keeper = place.add(mode="auto", window_minutes=60, many=words), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at + 1)
    assert place.submitted == {}
    rollout = place.row(row).run
    assert place.row(row).outcome.startswith(f"Started rollout {rollout} on 2 hosts at ")
    asked = next(place.store.read_events(rollout)).event
    assert (asked.hosts, asked.at_once, asked.waves, asked.mode) == (("fixture", "fixture-2"), 3, (1, 1), "auto")
    await keeper.fire_due_and_stop_overdue(row.next_at + 0.9 * HOUR)
    assert place.rollout(rollout) == "running"
    await keeper.fire_due_and_stop_overdue(row.next_at + 1.1 * HOUR)
    assert place.rollout(rollout) == "stopping"
    assert place.row(row).outcome.endswith("Stopped at the end of its window.")
    await keeper.fire_due_and_stop_overdue(row.next_at + 24 * HOUR + 1)
    assert place.row(row).outcome.endswith(f"rollout {rollout} has not ended.")


async def test_a_run_that_ended_in_time_is_not_stopped(place):
    row, keeper = place.add(mode="auto", window_minutes=60), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at)
    place.ends(*place.submitted)
    await keeper.fire_due_and_stop_overdue(row.next_at + 2 * HOUR)
    assert place.stops() == []
    after = place.row(row)
    assert (after.stopped, after.outcome.endswith("UTC.")) == (True, True), "its end is not looked at again"


async def test_a_rollout_that_a_person_stopped_before_is_looked_at_once(place):
    words = {"words": "fixture", "hosts": ("fixture",), "terms": RolloutTerms()}
    row, keeper = place.add(mode="auto", window_minutes=60, many=words), Scheduler(place)
    await keeper.fire_due_and_stop_overdue(row.next_at)
    command_rollout(place.database, place.row(row).run, "stop", by="ada")
    await keeper.fire_due_and_stop_overdue(row.next_at + 2 * HOUR)
    after = place.row(row)
    assert (after.stopped, after.outcome.endswith("UTC.")) == (True, True)


async def test_a_paused_one_takes_nothing_up_and_a_host_that_is_gone_is_said(place):
    paused, gone, keeper = place.add(), place.add(), Scheduler(place)
    with Session(place.database) as session, session.begin():
        session.get_one(ScheduleRow, paused.id).enabled = False
        session.get_one(ScheduleRow, gone.id).host = "web-that-was"
    await keeper.fire_due_and_stop_overdue(gone.next_at)
    assert place.submitted == {}
    assert place.row(paused).outcome == ""
    assert "web-that-was" in place.row(gone).outcome
    assert place.row(gone).unkept
    assert place.row(gone).next_at > gone.next_at


async def test_a_zone_that_is_gone_holds_up_no_other_schedule(place):
    gone, other, keeper = place.add(rules=("V-257984",)), place.add(rules=("V-257985",)), Scheduler(place)
    with Session(place.database) as session, session.begin():
        session.get_one(ScheduleRow, gone.id).zone = "Mars/Olympus"
        session.get_one(ScheduleRow, gone.id).next_at -= 1  # it comes first
    await keeper.fire_due_and_stop_overdue(other.next_at + 1)
    assert [request.rules for request in place.submitted.values()] == [("V-257985",)]
    said = place.row(gone)
    assert said.outcome == "Cannot start: there is no time zone 'Mars/Olympus': give one such as Europe/Berlin, or UTC."
    assert (said.unkept, said.run, said.next_at) == (True, "", gone.next_at - 1)
    version = place.changes.version()
    await keeper.fire_due_and_stop_overdue(other.next_at + 3)
    assert place.changes.version() == version, "it is not written again at each look"


def test_what_cannot_be_scheduled_is_refused(place):
    for words, sentence in (
        ({"host": "nowhere"}, "nowhere"),
        ({"mode": "auto"}, "give a window"),
        ({"mode": "wipe"}, "there is no mode 'wipe'"),
        ({"rules": ("V-1",)}, "there is no rule 'V-1'"),
    ):
        with pytest.raises(BadInput) as said:
            place.add(**words)
        assert sentence in str(said.value)
