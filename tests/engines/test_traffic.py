import pytest

from app.engines.admission import Held
from app.engines.traffic import EngineTraffic, ReplicaLook

HERE, THERE = "http://a/v1", "http://b/v1"


def test_a_turn_goes_to_the_emptiest_and_of_equals_to_the_first():
    traffic = EngineTraffic()
    assert traffic.least([HERE, THERE]) == 0
    with traffic.one_more(HERE):
        assert traffic.least([HERE, THERE]) == 1
        with traffic.one_more(THERE):
            assert traffic.least([HERE, THERE]) == 0
    assert traffic.least([HERE, THERE]) == 0


def test_what_others_ask_of_it_counts_and_ours_is_not_counted_twice():
    traffic = EngineTraffic()
    with traffic.one_more(HERE), traffic.one_more(HERE):
        traffic.looks[HERE] = ReplicaLook(requests=3, ours=2)
        assert traffic.foreign(HERE) == 1
    assert traffic.foreign(HERE) == 1, "ours that ended since the look do not become other people's"
    traffic.looks = {HERE: ReplicaLook(requests=1), THERE: ReplicaLook()}
    assert traffic.least([HERE, THERE]) == 1


def test_what_began_after_the_look_is_in_no_figure_of_it():
    traffic = EngineTraffic()
    first = traffic.begin(HERE, 100)
    traffic.begin(THERE, 7)
    traffic.looks[HERE] = ReplicaLook(newest=traffic.newest)
    traffic.begin(HERE, 20)
    assert traffic.held(HERE) == Held(turns=2, tokens=120, unseen=20)
    traffic.end(first)
    assert traffic.held(HERE) == Held(turns=1, tokens=20, unseen=20)


def test_one_that_does_not_serve_is_passed_over_unless_none_does():
    traffic = EngineTraffic(looks={THERE: ReplicaLook(requests=9)}, unwell={HERE})
    assert traffic.least([HERE, THERE]) == 1
    traffic.unwell = {HERE, THERE}
    assert traffic.least([HERE, THERE]) == 0


def test_a_request_that_fails_is_over_too():
    traffic = EngineTraffic()
    with pytest.raises(ZeroDivisionError), traffic.one_more(HERE):
        _ = 1 / 0
    assert traffic.ours[HERE] == 0
