"""A real run's log as a trajectory: steps in order, actions as tool calls, and what came of them."""

import json

import pytest

from app.scores.atif import build_trajectory

AGENT_ONLY = {"model_name", "reasoning_content", "tool_calls", "metrics"}


@pytest.fixture(scope="module")
def told(log):
    return json.loads(build_trajectory(log))


def test_it_has_what_the_format_asks_for(told, log):
    assert told["schema_version"].startswith("ATIF-v1.")
    assert told["session_id"] == log[0].run
    assert [step["step_id"] for step in told["steps"]] == list(range(1, len(told["steps"]) + 1))
    assert {step["source"] for step in told["steps"]} == {"system", "user", "agent"}
    for step in told["steps"]:
        assert isinstance(step["message"], str)
        assert step["source"] == "agent" or not AGENT_ONLY & step.keys()
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = step.get("observation", {"results": []})["results"]
        assert {one["source_call_id"] for one in results if "source_call_id" in one} <= calls


def test_actions_are_calls_and_their_fate_is_observed(told):
    called = [step for step in told["steps"] if "tool_calls" in step]
    assert any(
        call["function_name"] == "set_option" and call["arguments"]["path"].startswith("/")
        for step in called
        for call in step["tool_calls"]
    )
    seen = "\n".join(
        one["content"] for step in told["steps"] for one in step.get("observation", {"results": []})["results"]
    )
    for what in ("applied:", "scanner: pass", "rolled back:", "refused:", "passed"):
        assert what in seen


def test_what_was_simulated_is_told_and_tokens_add_up(told):
    assert "SIMULATED" in told["notes"]
    assert told["extra"]["simulated_engines"] is True
    given = [step["metrics"]["completion_tokens"] for step in told["steps"] if "metrics" in step]
    assert told["final_metrics"]["total_completion_tokens"] == sum(given) > 0
