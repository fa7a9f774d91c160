from dataclasses import replace

import pytest
from sqlmodel import Session

from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import (
    ProbeResult,
    find_newest_and_earlier,
    find_saturation,
    read_newest_probes,
    store_probe,
)
from app.store.db import open_and_migrate_database


def probed(**together):
    figures = (Measured(f"{key[1:]}.all_tok_s", value, "tok/s", "measured", "") for key, value in together.items())
    return ProbeResult("a", 0.0, "l", "big", 0, simulated=False, gpus=(), conditions={}, figures=tuple(figures))


@pytest.mark.parametrize(
    ("found", "most"),
    [
        (probed(_1x256=112, _4x256=380, _8x256=597), None),
        (probed(_1x256=9, _4x256=20, _8x256=21), 4),
        (probed(_1x256=9, _4x256=9.5, _8x256=9.6), 1),
        (probed(_1x256=9, _4x256=None, _8x256=9.6), 1),
        (probed(), None),
    ],
)
def test_more_streams_than_gain_a_tenth_are_too_many(found, most):
    assert find_saturation(found) == most


SPEED = Measured("1x512.tok_s", 14.7, "tok/s", "measured", "first token to last")
FIRST = ProbeResult("a", 1.0, "l4", "big", 0, False, ("NVIDIA L4",), {"vLLM": "0.25.1"}, (SPEED,), notes=("slow",))


def made(name, at, **changes):
    return replace(FIRST, id=name, at=at, **changes)


def test_a_probe_comes_back_as_it_was_kept_and_the_newest_first(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    with Session(database) as session, session.begin():
        for one in (FIRST, made("b", 3.0), made("c", 2.0, engine="small"), made("d", 4.0, lineup="other")):
            store_probe(session, one)
    with Session(database) as session:
        assert read_newest_probes(session, "l4", "big") == [made("b", 3.0), FIRST]
        assert [one.id for one in read_newest_probes(session, "l4")] == ["b", "c", "a"]
        assert [one.id for one in read_newest_probes(session, "", limit=1)] == ["d"]
    database.dispose()


def test_before_is_the_last_one_alike_that_came_to_its_end():
    failed = made("b", 3.0, problem="it ended at 4 streams")
    history = [made("c", 4.0), made("x", 3.5, replica=1), failed, made("s", 2.0, simulated=True), FIRST]
    now, before = find_newest_and_earlier(history, "big", 0)
    assert (now.id, before.id) == ("c", "a")
    assert find_newest_and_earlier([failed], "big", 0) == (failed, None)
    assert find_newest_and_earlier([], "big", 0) == (None, None)
