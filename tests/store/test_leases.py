"""Who owns a run: taken once, checked in the transaction that appends, and fenced by a number that only grows."""

import pytest
from sqlalchemy import delete
from sqlmodel import Session

from app.errors import LeaseLost
from app.store.db import open_and_migrate_database
from app.store.leases import LeaseRow, Leases
from tests.postgres import new_database


@pytest.fixture(scope="module")
def database(postgres_server):
    opened = open_and_migrate_database(new_database(postgres_server))
    yield opened
    opened.dispose()


@pytest.fixture
def mine(database):
    with Session(database) as session:
        session.execute(delete(LeaseRow))
        session.commit()
    return Leases(database, "mine")


@pytest.fixture
def theirs(database):
    return Leases(database, "theirs")


def offer(database, run, **more):
    with Session(database) as session:
        fields = {"host": "h", "node": "", "epoch": 1, "asked_at": 0.0, **more}
        session.merge(LeaseRow(name=run, **fields))
        session.commit()


def test_a_run_is_one_nodes_until_it_is_offered_again(database, mine, theirs):
    assert mine.acquire("r", "h", 1) > 0
    with pytest.raises(LeaseLost):
        theirs.acquire("r", "h", 1)
    mine.acquire("r", "h", 1)
    offer(database, "r", epoch=2)
    with pytest.raises(LeaseLost):
        theirs.acquire("r", "h", 1)
    theirs.acquire("r", "h", 2)
    with pytest.raises(LeaseLost):
        mine.acquire("r", "h", 2)


def test_a_local_host_keeps_its_runs_in_the_folder_that_has_it(database, mine, theirs):
    mine.acquire("r", "h", 1, "folder")
    offer(database, "r", place="folder")
    for place in ("", "another"):
        with pytest.raises(LeaseLost):
            theirs.acquire("r", "h", 1, place)
    theirs.acquire("r", "h", 1, "folder")


def test_each_owner_of_a_hosts_runs_has_a_higher_number_than_all_before(database, mine, theirs):
    first = mine.acquire("r1", "h", 1)
    second = theirs.acquire("r2", "h", 1)
    offer(database, "r3", claim=second + 10**9, node="mine")
    third = theirs.acquire("r4", "h", 1)
    assert first < second < third == second + 10**9 + 1
    assert theirs.acquire("r5", "elsewhere", 1) < third, "another host has numbers of its own"


def test_only_the_owner_may_append_and_change(database, mine, theirs):
    mine.acquire("r1", "h", 1)
    theirs.acquire("r2", "h", 1)
    with Session(database) as session:
        mine.create_lease_guard("r1")(session)
        for leases, run in ((theirs, "r1"), (mine, "r2"), (mine, "unknown")):
            with pytest.raises(LeaseLost):
                leases.create_lease_guard(run)(session)
    mine.create_lease_check_before_change("r1")()
    for leases, run in ((theirs, "r1"), (mine, "r2"), (mine, "unknown")):
        with pytest.raises(LeaseLost):
            leases.create_lease_check_before_change(run)()


def test_a_run_that_nobody_has_asked_for_is_taken_without_a_time_of_asking(database, mine):
    mine.acquire("r", "h", 1)
    with Session(database) as session:
        row = session.get_one(LeaseRow, "r")
        assert (row.node, row.epoch, row.asked_at) == ("mine", 1, 0.0)
