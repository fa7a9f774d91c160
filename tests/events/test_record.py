import json

import pytest

from app.events.kinds import ItemPassed, RunPaused, TurnDelta
from app.events.record import GENESIS, BrokenChain, build_recorded_event, check_chain_and_get_head, parse_line


def chain(*events):
    rows, previous = [], GENESIS
    for seq, event in enumerate(events, 1):
        recorded = build_recorded_event("r1", seq, 1_700_000_000.5 + seq, event, previous)
        rows.append((seq, recorded.line, recorded.hash))
        previous = recorded.hash
    return rows


ROWS = chain(RunPaused(by="a"), ItemPassed(rule="V-1", attempts=2), RunPaused(by="b"))


def test_a_line_reads_back_as_it_was_recorded():
    recorded = build_recorded_event(
        "r1", 7, 1_700_000_000.1239, ItemPassed(rule="V-1", attempts=2, lessons=("x",)), GENESIS
    )
    assert parse_line(recorded.line, recorded.hash) == recorded


def test_a_line_is_plain_json_with_its_place_first():
    line = json.loads(ROWS[0][1])
    assert list(line)[:4] == ["seq", "at", "run", "kind"]
    assert (line["kind"], line["at"]) == ("run.paused", "2023-11-14T22:13:21.500Z")


def test_hostile_text_stays_inside_its_line():
    text = 'a\n"}\u2028<script>\x00'
    event = TurnDelta(turn="t", role="worker", channel="answer", text=text, tokens=1)
    recorded = build_recorded_event("r1", 1, 1.0, event, GENESIS)
    assert b"\n" not in recorded.line
    assert parse_line(recorded.line, recorded.hash).event == event


def test_a_whole_chain_holds_and_ends_in_its_last_hash():
    assert check_chain_and_get_head(ROWS) == ROWS[-1][2]


@pytest.mark.parametrize("position", range(0, len(ROWS[1][1]), 7))
def test_one_changed_byte_is_found(position):
    line = bytearray(ROWS[1][1])
    line[position] ^= 1
    with pytest.raises(BrokenChain, match="event 2 is not what was recorded"):
        check_chain_and_get_head([ROWS[0], (2, bytes(line), ROWS[1][2]), ROWS[2]])


def test_a_missing_event_is_found():
    with pytest.raises(BrokenChain, match="event 2 is missing"):
        check_chain_and_get_head([ROWS[0], ROWS[2]])


def test_two_events_changed_places_are_found():
    with pytest.raises(BrokenChain):
        check_chain_and_get_head([(1, *ROWS[1][1:]), (2, *ROWS[0][1:]), ROWS[2]])
