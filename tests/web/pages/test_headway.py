"""How far a run is, and when it may end: told only when there is something to tell it from."""

import msgspec
import pytest

from app.loop.state import Item, RunState, fold_events
from app.web.pages.mission.progress import measure_progress
from tests.web.pages.mission_log import log


def state(done, total=10):
    items = {str(number): Item(str(number), "passed" if number < done else "waiting") for number in range(total)}
    return RunState(started_at=1000.0, at=1060.0, status="running", items=items)


@pytest.mark.parametrize(
    ("done", "words"), [(2, "no estimate yet"), (3, "about 2 minutes left"), (9, "less than a minute left")]
)
def test_an_end_is_foretold_from_what_it_took_so_far(done, words):
    assert measure_progress(state(done)).remaining_text == words


def test_a_run_that_has_ended_has_nothing_to_go():
    ended = fold_events(log())
    assert measure_progress(ended).left is None
    assert measure_progress(msgspec.structs.replace(ended, ended=None)).counts["passed"] == 1
