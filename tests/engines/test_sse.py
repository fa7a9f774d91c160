"""Bytes to data lines, wherever the network cuts them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.chat_request_and_reply_encoding import LINE_LIMIT, SseDataParser
from app.errors import EngineDied


def lines(*pieces: bytes) -> list[bytes]:
    reader = SseDataParser()
    return [line for piece in pieces for line in reader.feed(piece)]


def test_only_data_lines_come_out():
    assert lines(b": ping\n\nevent: x\ndata: one\nid: 4\ndata:two\r\n\r\ndata: three") == [b"one", b"two"]


def test_a_line_ends_at_a_newline_and_at_nothing_else():
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf".encode()
    assert lines(b"data: " + text + b"\n") == [text]


@given(st.lists(st.binary(max_size=30).filter(lambda b: b"\n" not in b), max_size=6), st.data())
def test_any_cut_gives_the_same_lines(payloads, data):
    stream = b"".join(b"data: " + payload + b"\n\n" for payload in payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert lines(*pieces) == [payload.strip() for payload in payloads]


def test_a_long_line_in_small_pieces_costs_one_pass():
    pieces = [b"x" * 64] * (2 * 1024 * 1024 // 64)

    def cost(count: int) -> float:
        started = time.process_time()
        assert len(lines(b"data: ", *pieces[:count], b"\n")[0]) == 64 * count
        return time.process_time() - started

    short = min(cost(len(pieces) // 8) for _ in range(3))
    assert cost(len(pieces)) < 8 * short * 4 + 0.05


def test_a_line_without_end_is_given_up():
    reader = SseDataParser()
    for _ in range(LINE_LIMIT // 65536):
        assert list(reader.feed(b"x" * 65536)) == []
    with pytest.raises(EngineDied, match="more than 4 MB"):
        list(reader.feed(b"x"))


def test_many_short_lines_may_pass_the_limit_together():
    reader = SseDataParser()
    line = b"data: " + b"x" * 65535 + b"\n"
    assert sum(len(list(reader.feed(line))) for _ in range(70)) == 70
