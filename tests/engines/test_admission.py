import pytest

from app.engines.admission import ReplicaCapacity, ReplicaLoad, explain_wait, limit_streams


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
    assert limit_streams(256, 64) == 64
    assert limit_streams(4, None) == 4
    assert limit_streams(None, None) is None
