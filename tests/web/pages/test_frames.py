"""The frame of a run, whichever looks came before: the fold of its kinds up to there."""

import random

import pytest

from app.loop.state import fold_events
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission_loader import FRAME_KINDS, KEPT, FrameCache


@pytest.fixture
def store(played):
    database = open_and_migrate_database(played[0] / "temper.sqlite")
    yield EventStore(database)
    database.dispose()


@pytest.mark.parametrize("seed", range(3))
def test_looks_in_any_order_see_what_a_first_look_sees(store, played, log, seed):
    dice, frames = random.Random(seed), FrameCache(store)
    for seq in dice.choices(range(len(log) + 1), k=2 * KEPT):
        assert frames.fold_frame_state_upto(played[1], seq) == fold_events(
            store.read_events(played[1], upto=seq, kinds=FRAME_KINDS)
        ), seq
        assert frames.fold_frame_state_upto("another", seq) == fold_events(())
    assert len(frames._known) == KEPT
