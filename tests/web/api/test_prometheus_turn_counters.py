"""Turns are counted as the log has them: those that repeated themselves among them."""

from app.events.bus import Bus
from app.events.kinds import TurnFinished
from app.web.api.metrics import _collect_turn_metrics, _iterate_family_lines
from app.web.api.prometheus_turn_counters import TurnCounters


def turn(*, looped=False):
    return TurnFinished(
        turn="r.1", role="worker", purpose="act", outcome="broken" if looped else "answered", detail="",
        thought="", answer="", completion_tokens=40, seconds=2.0, looped=looped,
    )  # fmt: skip


def test_a_turn_that_repeated_itself_is_counted_by_its_role():
    tally = TurnCounters(Bus(), None)
    for one in (turn(), turn(looped=True), turn(looped=True)):
        tally._add_turn_to_counters_of_role(one)
    text = "".join(line for family in _collect_turn_metrics(tally) for line in _iterate_family_lines(family))
    assert 'temper_turns_looped_total{role="worker"} 2\n' in text
    assert 'temper_turn_seconds_count{role="worker"} 3.0\n' in text
