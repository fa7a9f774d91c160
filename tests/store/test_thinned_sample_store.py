"""Stretches of downsampled samples: each step has its own, and each is read, replaced and deleted by its start."""

import pytest

from app.store.db import open_and_migrate_database
from app.store.thinned_sample_store import ThinnedStore


@pytest.fixture
def thinned(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    store = ThinnedStore(database)
    for at in (30.0, 10.0, 20.0):
        store.save(10, at, b"of %d" % at)
    store.save(60, 0.0, b"of a minute")
    yield store
    database.dispose()


def test_stretches_of_a_step_are_read_in_order_from_the_first_time_to_before_the_last(thinned):
    assert thinned.list_stretches_that_begin_between(10, 10, 30) == [(10.0, b"of 10"), (20.0, b"of 20")]
    assert thinned.list_stretches_that_begin_between(60, 0, 1) == [(0.0, b"of a minute")]


def test_a_stretch_that_is_saved_again_replaces_the_former(thinned):
    thinned.save(10, 10.0, b"more")
    assert thinned.list_stretches_that_begin_between(10, 0, 20) == [(10.0, b"more")]


def test_the_first_time_is_looked_for_from_a_time_on_and_the_last_among_all(thinned):
    assert [thinned.find_first_stretch_start(10, since) for since in (0, 10, 11, 31)] == [10, 10, 20, None]
    assert [thinned.find_last_stretch_start(step) for step in (10, 60, 3600)] == [30, 0, None]


def test_older_stretches_of_one_step_are_deleted_and_no_others(thinned):
    thinned.delete_before(10, 20)
    assert [at for at, _ in thinned.list_stretches_that_begin_between(10, 0, 100)] == [20, 30]
    assert thinned.find_last_stretch_start(60) == 0
