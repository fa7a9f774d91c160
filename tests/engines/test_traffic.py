import pytest

from app.engines.traffic import EngineTraffic

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
    traffic = EngineTraffic(reported={HERE: 3})
    with traffic.one_more(HERE), traffic.one_more(HERE):
        assert traffic.foreign(HERE) == 1
    traffic.reported[HERE] = 0
    with traffic.one_more(HERE):
        assert traffic.foreign(HERE) == 0
    traffic.reported = {HERE: 1, THERE: 0}
    assert traffic.least([HERE, THERE]) == 1


def test_one_that_does_not_serve_is_passed_over_unless_none_does():
    traffic = EngineTraffic(reported={THERE: 9}, unwell={HERE})
    assert traffic.least([HERE, THERE]) == 1
    traffic.unwell = {HERE, THERE}
    assert traffic.least([HERE, THERE]) == 0


def test_a_request_that_fails_is_over_too():
    traffic = EngineTraffic()
    with pytest.raises(ZeroDivisionError), traffic.one_more(HERE):
        _ = 1 / 0
    assert traffic.ours[HERE] == 0
