"""A model that has begun to repeat itself is seen; one that says much, or the same in another way, is not."""

import pytest

from app.loop.turn_streaming import RepetitionDetector


def first_seen(text, size=7, channel="answer"):
    watch = RepetitionDetector()
    for at in range(0, len(text), size):
        if watch.add_and_check_repetition(channel, text[at : at + size]):
            return at + size
    return None


@pytest.mark.parametrize(
    "piece", [" ", "ab", "2026-11-22 ", "/etc/ssh/sshd_config, and then once more ", '{"a": [1]},\n']
)
def test_the_same_again_and_again_is_seen_soon(piece):
    seen = first_seen("It begins well. " + piece * 400)
    assert seen is not None
    assert seen < 16 + 300


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"line {n} of the log; " for n in range(200)),
        "-" * 78 + "\nUse is monitored.\n" + "-" * 78,
        "".join(f'{{"do": "set_option", "path": "/etc/{n}", "key": "k", "value": "v"}}, ' for n in range(12)),
    ],
)
def test_what_only_looks_alike_is_left_alone(text):
    assert first_seen(text) is None


def test_each_channel_is_watched_by_itself():
    watch = RepetitionDetector()
    assert not any(
        watch.add_and_check_repetition(channel, "ab" * 20) for _ in range(5) for channel in ("thought", "answer")
    )
