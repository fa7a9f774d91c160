"""Small tables: backups, groups, schedules, and the one session of a request."""

import asyncio

import pytest

from app.errors import Rejected
from app.store import backup_times, host_groups, schedules
from app.store.models import ScheduleRow
from app.store.session_shared_within_request import (
    open_read_connection,
    open_read_session,
    share_session_within_request,
)


def test_the_newest_backup_counts_whoever_made_it(database, session):
    assert backup_times.find_newest_backup_time(session) is None
    for at, by in ((5.0, "ada"), (9.0, "bob"), (7.0, "ada"), (9.0, "cy")):
        backup_times.record_backup(database, at, by)
    assert backup_times.find_newest_backup_time(session) == 9.0


def test_a_group_is_replaced_as_a_whole(session):
    host_groups.replace_group(session, "web", ["b", "a", "b"])
    host_groups.replace_group(session, "all", ["a"])
    assert host_groups.read_groups(session) == {"all": ("a",), "web": ("a", "b")}
    assert host_groups.list_groups_of_host(session, "a") == ("all", "web")
    host_groups.replace_group(session, "web", ["c"])
    host_groups.replace_group(session, "all", [])
    assert host_groups.read_groups(session) == {"web": ("c",)}
    assert host_groups.list_groups_of_host(session, "a") == ()


def add_schedule(session, name, host, made_at, next_at, **more):
    fields = {"skill": "s", "rules": "", "mode": "auto", "cron": "", "zone": "", "by": "ada", **more}
    session.add(ScheduleRow(id=name, host=host, made_at=made_at, next_at=next_at, **fields))
    session.flush()


def test_schedules_are_listed_by_host_and_are_due_once_their_time_has_come(session):
    add_schedule(session, "1", "b", 1.0, 30.0)
    add_schedule(session, "2", "a", 3.0, 20.0)
    add_schedule(session, "3", "a", 2.0, 10.0)
    add_schedule(session, "4", "c", 4.0, 5.0, enabled=False)
    assert [row.id for row in schedules.list_schedules(session)] == ["3", "2", "1", "4"]
    assert [row.id for row in schedules.lock_and_list_due_schedules(session, 20.0)] == ["3", "2"]
    assert schedules.lock_and_list_due_schedules(session, 9.0) == []
    assert schedules.require_schedule(session, "1").host == "b"
    with pytest.raises(Rejected, match="there is no schedule '9'"):
        schedules.require_schedule(session, "9")


def test_all_reads_of_a_request_have_its_session_and_none_after_it(database, session):
    with share_session_within_request(session):
        with open_read_session(database) as first, open_read_session(database) as second:
            assert first is second is session
        with open_read_connection(database) as connection:
            assert connection is session.connection()
    with open_read_session(database) as later:
        assert later is not session


async def test_a_task_that_outlives_its_request_has_a_session_of_its_own(database, session):
    over = asyncio.Event()

    async def read_later():
        await over.wait()
        with open_read_session(database) as mine:
            return mine

    with share_session_within_request(session):
        task = asyncio.create_task(read_later())
    over.set()
    assert await task is not session
