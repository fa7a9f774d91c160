import pytest

from app.engines.admission import Held, Room, most_streams, why_wait


@pytest.mark.parametrize(
    ("room", "held", "tokens", "word"),
    [
        (Room(), Held(50, 500_000), 4000, ""),
        (Room(streams=8), Held(7, 0), 4000, ""),
        (Room(streams=8), Held(8, 0), 4000, "8 at a time"),
        (Room(streams=8, others=3), Held(5, 0), 4000, "8 at a time"),
        (Room(streams=8, nodes=2), Held(4, 0), 4000, "8 at a time"),
        (Room(streams=3, nodes=5), Held(1, 0), 4000, "3 at a time"),
        (Room(kv_tokens=10_000), Held(2, 6000), 4000, ""),
        (Room(kv_tokens=10_000), Held(2, 6001), 4000, "10,000 tokens"),
        (Room(kv_tokens=10_000, nodes=2), Held(1, 2000), 4000, "10,000 tokens"),
        (Room(kv_tokens=10_000, kv_used=6000), Held(1, 2000), 4000, ""),
        (Room(kv_tokens=10_000, kv_used=6001), Held(1, 2000), 4000, "6,001 of its 10,000 KV tokens are in use"),
        (Room(kv_tokens=10_000, kv_used=3000), Held(2, 5000, unseen=3001), 4000, "3,000 of its 10,000"),
    ],
)
def test_a_turn_goes_while_streams_and_cache_have_room(room, held, tokens, word):
    said = why_wait(room, held, tokens)
    assert word in said
    assert bool(said) == bool(word)


def test_one_turn_of_ours_is_always_there_whoever_else_fills_the_engine():
    assert why_wait(Room(streams=1, others=9, kv_tokens=10, kv_used=10, nodes=3), Held(), 4000) == ""


def test_the_lower_of_two_limits_counts_and_none_is_none():
    assert most_streams(256, 64) == 64
    assert most_streams(4, None) == 4
    assert most_streams(None, None) is None
