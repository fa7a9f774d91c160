"""The frame of a run, whichever looks came before: the fold of its kinds up to there."""

import random

import pytest

from app.loop.state import fold
from app.store.db import open_database
from app.store.events import EventStore
from app.web.pages.mission.frames import FRAME, KEPT, Frames


@pytest.fixture
def store(played):
    database = open_database(played[0] / "temper.sqlite")
    yield EventStore(database)
    database.dispose()


@pytest.mark.parametrize("seed", range(3))
def test_looks_in_any_order_see_what_a_first_look_sees(store, played, log, seed):
    dice, frames = random.Random(seed), Frames(store)
    for seq in dice.choices(range(len(log) + 1), k=2 * KEPT):
        assert frames.upto(played[1], seq) == fold(store.events(played[1], upto=seq, kinds=FRAME)), seq
        assert frames.upto("another", seq) == fold(())
    assert len(frames._known) == KEPT
