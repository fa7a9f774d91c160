"""Figures of an engine agree with the turns that it serves, or are not shown."""

from msgspec.structs import replace

from app.events.kinds import EngineSampled
from app.web.pages.engine_card import FLOWS_SECONDS, STALE_SECONDS, select_current_sample
from app.web.pages.hosts_sharing_each_engine import EngineShare, ServedHost

BUSY = EngineSampled(engine="e", running=1, waiting=0, kv_used=0.05, tok_s=44.0, prompt_tok_s=None, simulated=True)
QUIET = replace(BUSY, running=0, kv_used=0.0, tok_s=0.0)
IDLE, READING = EngineShare(), EngineShare((ServedHost("auditor", "web"),))
DECODING = EngineShare(READING.serving, decoding=True)


def current(sample, share, state="ready", age=0.5):
    return select_current_sample(sample, state, age, share)


def test_a_sample_of_the_turn_that_is_served_is_shown():
    assert current(BUSY, DECODING) == BUSY
    assert current(BUSY, DECODING, "degraded") == BUSY
    assert current(BUSY, DECODING, age=None) == BUSY
    assert current(QUIET, IDLE) == QUIET


def test_a_sample_from_before_a_turn_began_or_ended_is_not_of_the_present():
    assert current(QUIET, READING) is None, "it serves, and nothing runs"
    assert current(BUSY, IDLE) is None, "it is idle, and something runs"


def test_the_rate_of_another_second_is_unknown():
    assert current(replace(BUSY, tok_s=0.0), DECODING).tok_s is None, "it decodes, at no rate"
    assert current(replace(BUSY, tok_s=0.0), READING).tok_s == 0.0, "a prompt that is read gives no tokens"
    assert current(replace(QUIET, tok_s=25.0), IDLE).tok_s is None, "the last tokens of a turn that has ended"
    assert current(BUSY, DECODING, age=FLOWS_SECONDS + 1).tok_s is None


def test_requests_of_other_clients_need_no_turn():
    foreign = replace(BUSY, foreign=1)
    assert current(foreign, IDLE) == foreign


def test_nothing_describes_an_engine_that_is_silent_or_was_not_read_for_long():
    for state in ("dead", "stalled", "absent"):
        assert current(BUSY, DECODING, state) is None
    assert current(BUSY, DECODING, age=STALE_SECONDS + 1) is None
