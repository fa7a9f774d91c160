"""A year of samples on a small disk, read back as it was."""

import pytest

from app.events.kinds import EngineSampled
from app.events.record import MACHINE, build_recorded_event
from app.machine.sampling.sample_thinning_by_age import DAY, RAW_SECONDS, TIERS, Thinning
from app.machine.sampling.series_on_time_grid import SeriesKey
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

BEGIN = 86400.0 * 20000
TOK_S = SeriesKey("engine", "e", "", "tok_s", True)


@pytest.fixture
def store(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield EventStore(database)
    database.dispose()


def sample(store, times, tok_s=lambda at: at % 100):
    last = store.read_last_sample_seq()
    figures = {"running": 1, "waiting": 0, "kv_used": None, "prompt_tok_s": None, "simulated": True}
    store.append(
        [
            build_recorded_event(MACHINE, last + n, at, EngineSampled(engine="e", tok_s=tok_s(at), **figures), "")
            for n, at in enumerate(times, 1)
        ]
    )


def seconds(begin, count):
    return [begin + n for n in range(count)]


def test_what_is_thinned_says_the_same_as_the_single_samples_did(store):
    sample(store, seconds(BEGIN, 1500))
    thinning = Thinning(store)
    before = thinning.read(BEGIN, BEGIN + 1500, 10, BEGIN + 1500).to_series()[TOK_S]
    thinning.catch_up(BEGIN + 1500)
    assert [begin for begin, _ in store.thinned.list_stretches_that_begin_between(10, 0, 1e12)] == [BEGIN, BEGIN + 600]
    store.delete_old_samples_not_kept_for_good(BEGIN + 1200)
    assert thinning.read(BEGIN, BEGIN + 1500, 10, BEGIN + 1500).to_series()[TOK_S] == before
    assert before[:2] == [4.5, 14.5]


def test_an_unfinished_stretch_waits_and_is_read_from_the_single_samples(store):
    sample(store, seconds(BEGIN, 599))
    Thinning(store).catch_up(BEGIN + 599)
    assert store.thinned.find_last_stretch_start(10) is None
    assert len(Thinning(store).read(BEGIN, BEGIN + 599, 60, BEGIN + 599).to_series()[TOK_S]) == 10


def test_a_stretch_is_thinned_only_once_its_last_sample_has_had_time_to_be_written(store):
    sample(store, seconds(BEGIN, 599))
    thinning = Thinning(store)
    thinning.catch_up(BEGIN + 604)
    assert store.thinned.find_last_stretch_start(10) is None
    sample(store, [BEGIN + 599], lambda _: 1000.0)
    thinning.catch_up(BEGIN + 605)
    store.delete_old_samples_not_kept_for_good(BEGIN + 600)
    assert thinning.read(BEGIN, BEGIN + 600, 10, BEGIN + 600).to_series()[TOK_S][-1] > 100


def test_each_tier_is_made_of_the_finer_one_over_pauses_of_any_length(store):
    sample(store, [*seconds(BEGIN, 120), *seconds(BEGIN + 5 * 3600, 120)], lambda _: 12.0)
    thinning = Thinning(store)
    thinning.catch_up(BEGIN + RAW_SECONDS + 30)
    assert [begin for begin, _ in store.thinned.list_stretches_that_begin_between(60, 0, 1e12)] == [
        BEGIN,
        BEGIN + 5 * 3600,
    ]
    store.delete_old_samples_not_kept_for_good(BEGIN + DAY)
    thinning.catch_up(BEGIN + DAY + 10)
    assert [begin for begin, _ in store.thinned.list_stretches_that_begin_between(3600, 0, 1e12)] == [BEGIN]
    hours = thinning.read(BEGIN, BEGIN + DAY, 3600, BEGIN + DAY).to_series()[TOK_S]
    assert hours[:7] == [12.0, None, None, None, None, 12.0, None]


def test_what_is_old_is_told_no_finer_than_it_is_kept(store):
    thinning = Thinning(store)
    grids = [thinning.read(BEGIN - ago, BEGIN - ago + 60, 1, BEGIN) for ago in (60, 7 * 3600, 3 * DAY)]
    assert [grid.step for grid in grids] == [1, 10, 60]


def test_after_its_time_a_tier_forgets(store):
    sample(store, seconds(BEGIN, 601))
    thinning = Thinning(store)
    thinning.catch_up(BEGIN + 700)
    thinning.catch_up(BEGIN + TIERS[0].keep + 3600)
    assert store.thinned.find_last_stretch_start(10) is None
