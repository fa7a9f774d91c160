"""A whole run as a collector would see it."""

from collections import Counter

import pytest

from app.background.telemetry.run_log_spans import Measure, RunTrace, Span
from app.events.kinds import RunFailed, TurnFinished, TurnStarted
from app.events.record import GENESIS, build_recorded_event
from app.events.trace_ids import build_traceparent, derive_span_id, derive_trace_id


@pytest.fixture(scope="module")
def told(log):
    trace = RunTrace(log[0].run)
    return [one for recorded in log for one in trace.fold_event_and_iterate_finished(recorded)]


@pytest.fixture(scope="module")
def spans(told):
    return {one.id: one for one in told if isinstance(one, Span)}


def test_every_span_hangs_under_the_run_and_is_within_its_parent(spans):
    (root,) = [span for span in spans.values() if not span.parent]
    assert root.name == "harden fixture"
    for span in spans.values():
        assert span.trace == root.trace
        if span.parent:
            parent = spans[span.parent]
            assert parent.began <= span.began <= span.ended <= parent.ended, span


def test_each_turn_is_a_role_that_asks_a_model(spans, log):
    turns = [recorded.event for recorded in log if isinstance(recorded.event, TurnStarted)]
    chats = [span for span in spans.values() if span.name.startswith("chat ")]
    assert len(chats) == len(turns) > 0
    roles = Counter(spans[span.parent].name for span in chats)
    assert roles == Counter(f"invoke_agent {turn.role}" for turn in turns)
    for span in chats:
        assert span.outward
        assert span.attributes["gen_ai.provider.name"] == "vllm"
        assert span.attributes["temper.simulated"] is True


def test_what_was_changed_and_undone_is_there(spans, log):
    kinds = Counter(type(recorded.event).__name__ for recorded in log)
    names = Counter(span.name for span in spans.values())
    assert names["execute_tool apply"] == kinds["ActionApplied"] > 0
    assert names["execute_tool undo"] == kinds["ActionRolledBack"] > 0
    assert names["item V-257985"] == 1


def test_the_measures_add_up_to_the_log(told, log):
    ends = [recorded.event for recorded in log if isinstance(recorded.event, TurnFinished)]
    usage = [one for one in told if isinstance(one, Measure) and one.name == "gen_ai.client.token.usage"]
    for kind, name in (("input", "prompt_tokens"), ("output", "completion_tokens")):
        tokens = sum(one.value for one in usage if one.attributes["gen_ai.token.type"] == kind)
        assert tokens == sum(getattr(end, name) for end in ends) > 0


def test_nothing_that_was_said_is_told(told, log):
    thoughts = [recorded.event.thought for recorded in log if isinstance(recorded.event, TurnFinished)]
    everything = repr(told)
    assert not any(thought[:40] in everything for thought in thoughts if thought)


def test_an_engine_is_told_the_span_of_the_turn_that_asks_it(spans, log):
    turn = next(recorded.event for recorded in log if isinstance(recorded.event, TurnStarted))
    run = log[0].run
    version, trace, span, flags = build_traceparent(run, turn.turn).split("-")
    assert (version, flags, trace) == ("00", "01", derive_trace_id(run))
    assert spans[span].attributes["gen_ai.request.model"] == turn.model
    assert (len(trace), len(span)) == (32, 16)


def test_a_turn_that_came_to_nothing_and_a_run_that_failed_are_errors():
    trace, at = RunTrace("r"), 10.0
    begun = TurnStarted(
        turn="r.1", rule="V-1", attempt=1, role="worker", purpose="act", engine="e", model="m", replica=0,
        max_tokens=9, prompt=("", ""),
    )  # fmt: skip
    ended = TurnFinished(turn="r.1", role="worker", purpose="act", outcome="died", detail="gone", thought="", answer="")
    events = [begun, ended, RunFailed(reason="the host is gone")]
    told = [
        one
        for n, event in enumerate(events, 1)
        for one in trace.fold_event_and_iterate_finished(build_recorded_event("r", n, at + n, event, GENESIS))
    ]
    spans = [one for one in told if isinstance(one, Span)]
    assert [(span.name, span.error) for span in spans] == [("invoke_agent worker", "died"), ("chat m", "died")]
    assert spans[0].id == derive_span_id("r", "agent", "r.1")
    assert trace.ended
