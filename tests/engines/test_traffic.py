import pytest

from app.engines.admission import ReplicaLoad
from app.engines.traffic import EngineTraffic, ReplicaReport

HERE, THERE = "http://a/v1", "http://b/v1"


def test_a_turn_goes_to_the_emptiest_and_of_equals_to_the_first():
    traffic = EngineTraffic()
    assert traffic.choose_replica([HERE, THERE]) == 0
    with traffic.track_request(HERE):
        assert traffic.choose_replica([HERE, THERE]) == 1
        with traffic.track_request(THERE):
            assert traffic.choose_replica([HERE, THERE]) == 0
    assert traffic.choose_replica([HERE, THERE]) == 0


def test_what_others_ask_of_it_counts_and_ours_is_not_counted_twice():
    traffic = EngineTraffic()
    with traffic.track_request(HERE), traffic.track_request(HERE):
        traffic.reports[HERE] = ReplicaReport(requests=3, ours=2)
        assert traffic.count_foreign_requests(HERE) == 1
    assert traffic.count_foreign_requests(HERE) == 1, "ours that ended since the look do not become other people's"
    traffic.reports = {HERE: ReplicaReport(requests=1), THERE: ReplicaReport()}
    assert traffic.choose_replica([HERE, THERE]) == 1


def test_what_began_after_the_look_is_in_no_figure_of_it():
    traffic = EngineTraffic()
    first = traffic.begin_request(HERE, 100)
    traffic.begin_request(THERE, 7)
    traffic.reports[HERE] = ReplicaReport(newest=traffic.newest)
    traffic.begin_request(HERE, 20)
    assert traffic.measure_load(HERE) == ReplicaLoad(turns=2, tokens=120, unseen=20)
    traffic.end_request(first)
    assert traffic.measure_load(HERE) == ReplicaLoad(turns=1, tokens=20, unseen=20)


def test_one_that_does_not_serve_is_passed_over_unless_none_does():
    traffic = EngineTraffic(reports={THERE: ReplicaReport(requests=9)}, unhealthy={HERE})
    assert traffic.choose_replica([HERE, THERE]) == 1
    traffic.unhealthy = {HERE, THERE}
    assert traffic.choose_replica([HERE, THERE]) == 0


def test_a_request_that_fails_is_over_too():
    traffic = EngineTraffic()
    with pytest.raises(ZeroDivisionError), traffic.track_request(HERE):
        _ = 1 / 0
    assert traffic.ours[HERE] == 0
