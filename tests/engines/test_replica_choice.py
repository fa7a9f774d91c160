import pytest

from app.engines.replica_choice import (
    EngineTraffic,
    ReplicaCapacity,
    ReplicaLoad,
    ReplicaReport,
    explain_wait,
    find_stream_limit,
)

HERE, THERE = "http://a/v1", "http://b/v1"


def test_a_turn_goes_to_the_emptiest_and_of_equals_to_the_first():
    traffic = EngineTraffic()
    assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 0
    with traffic.track_request(HERE):
        assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 1
        with traffic.track_request(THERE):
            assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 0
    assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 0


def test_what_others_ask_of_it_counts_and_ours_is_not_counted_twice():
    traffic = EngineTraffic()
    with traffic.track_request(HERE), traffic.track_request(HERE):
        traffic.reports[HERE] = ReplicaReport(requests=3, ours=2)
        assert traffic.count_requests_of_other_processes(HERE) == 1
    assert traffic.count_requests_of_other_processes(HERE) == 1, (
        "ours that ended since the look do not become other people's"
    )
    traffic.reports = {HERE: ReplicaReport(requests=1), THERE: ReplicaReport()}
    assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 1


def test_what_began_after_the_look_is_in_no_figure_of_it():
    traffic = EngineTraffic()
    first = traffic.begin_request(HERE, 100)
    traffic.begin_request(THERE, 7)
    traffic.reports[HERE] = ReplicaReport(newest=traffic.newest)
    traffic.begin_request(HERE, 20)
    assert traffic.compute_own_load(HERE) == ReplicaLoad(turns=2, tokens=120, unseen=20)
    traffic.end_request(first)
    assert traffic.compute_own_load(HERE) == ReplicaLoad(turns=1, tokens=20, unseen=20)


def test_one_that_does_not_serve_is_passed_over_unless_none_does():
    traffic = EngineTraffic(reports={THERE: ReplicaReport(requests=9)}, unhealthy={HERE})
    assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 1
    traffic.unhealthy = {HERE, THERE}
    assert traffic.rank_replica_indexes_by_health_and_load([HERE, THERE])[0] == 0


def test_a_request_that_fails_is_over_too():
    traffic = EngineTraffic()
    with pytest.raises(ZeroDivisionError), traffic.track_request(HERE):
        _ = 1 / 0
    assert traffic.ours[HERE] == 0


@pytest.mark.parametrize(
    ("room", "held", "tokens", "word"),
    [
        (ReplicaCapacity(), ReplicaLoad(50, 500_000), 4000, ""),
        (ReplicaCapacity(streams=8), ReplicaLoad(7, 0), 4000, ""),
        (ReplicaCapacity(streams=8), ReplicaLoad(8, 0), 4000, "8 at a time"),
        (ReplicaCapacity(streams=8, others=3), ReplicaLoad(5, 0), 4000, "8 at a time"),
        (ReplicaCapacity(streams=8, nodes=2), ReplicaLoad(4, 0), 4000, "8 at a time"),
        (ReplicaCapacity(streams=3, nodes=5), ReplicaLoad(1, 0), 4000, "3 at a time"),
        (ReplicaCapacity(kv_tokens=10_000), ReplicaLoad(2, 6000), 4000, ""),
        (ReplicaCapacity(kv_tokens=10_000), ReplicaLoad(2, 6001), 4000, "10,000 tokens"),
        (ReplicaCapacity(kv_tokens=10_000, nodes=2), ReplicaLoad(1, 2000), 4000, "10,000 tokens"),
        (ReplicaCapacity(kv_tokens=10_000, kv_used=6000), ReplicaLoad(1, 2000), 4000, ""),
        (
            ReplicaCapacity(kv_tokens=10_000, kv_used=6001),
            ReplicaLoad(1, 2000),
            4000,
            "6,001 of its 10,000 KV tokens are in use",
        ),
        (
            ReplicaCapacity(kv_tokens=10_000, kv_used=3000),
            ReplicaLoad(2, 5000, unseen=3001),
            4000,
            "3,000 of its 10,000",
        ),
    ],
)
def test_a_turn_goes_while_streams_and_cache_have_room(room, held, tokens, word):
    said = explain_wait(room, held, tokens)
    assert word in said
    assert bool(said) == bool(word)


def test_one_turn_of_ours_is_always_there_whoever_else_fills_the_engine():
    assert (
        explain_wait(ReplicaCapacity(streams=1, others=9, kv_tokens=10, kv_used=10, nodes=3), ReplicaLoad(), 4000) == ""
    )


def test_the_lower_of_two_limits_counts_and_none_is_none():
    assert find_stream_limit(256, 64) == 64
    assert find_stream_limit(4, None) == 4
    assert find_stream_limit(None, None) is None
