"""The simulator's wire against what real servers were seen to send."""

import json

import httpx
import pytest

from tests.engines.asking import SCHEMA
from tests.engines.conftest import MODELS, Simulator

USAGE = {"include_usage": True, "continuous_usage_stats": True}


def shaped(schema: object):
    return {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}}


def body(**changes):
    return {
        "model": MODELS["gemma-31b"],
        "messages": [{"role": "user", "content": "Rule: V-1\nAttempt: 1"}],
        "max_tokens": 400,
        "response_format": shaped(SCHEMA),
        **changes,
    }


def post(simulator: Simulator, request: object, **headers: str) -> httpx.Response:
    content = request if isinstance(request, bytes) else json.dumps(request).encode()
    return httpx.post(f"{simulator.root()}/v1/chat/completions", content=content, headers=headers)


def stream(simulator: Simulator, **changes) -> list[dict]:
    answer = post(simulator, body(stream=True, **changes), **{"X-Request-Id": "run.architect.1"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    *events, done, nothing = answer.text.split("\n\n")
    assert (done, nothing) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


def test_chunks_come_in_vllms_order(instant: Simulator):
    first, *middle, finish, last = stream(instant, stream_options=USAGE)
    assert {one["id"] for one in (first, *middle, finish, last)} == {"chatcmpl-run.architect.1"}
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    kinds = [next(iter(one["choices"][0]["delta"])) for one in middle if one["choices"][0]["delta"] != {"content": ""}]
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {"reasoning", "content"}
    assert (finish["choices"][0]["finish_reason"], finish["choices"][0]["stop_reason"]) == ("stop", None)
    assert all(one["choices"][0]["finish_reason"] is None for one in (first, *middle))
    assert last["choices"] == []


def test_usage_grows_on_every_chunk_and_ends_in_the_total(instant: Simulator):
    events = stream(instant, stream_options=USAGE)
    counts = [one["usage"]["completion_tokens"] for one in events]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == counts[-2] == counts[-3] + 1
    assert len({one["usage"]["prompt_tokens"] for one in events}) == 1
    assert len({one["usage"]["total_tokens"] - one["usage"]["completion_tokens"] for one in events}) == 1


@pytest.mark.parametrize(
    ("options", "on_each", "at_the_end"),
    [
        (None, False, False),
        ({"include_usage": True}, False, True),
        ({"continuous_usage_stats": True}, False, False),
        (USAGE, True, True),
    ],
)
def test_usage_comes_only_where_it_was_asked_for(instant: Simulator, options, on_each, at_the_end):
    *chunks, last = stream(instant, stream_options=options)
    assert all(("usage" in one) == on_each for one in chunks)
    assert (last["choices"] == []) == at_the_end


def test_an_answer_in_one_piece(instant: Simulator):
    answer = post(instant, body(), **{"X-Request-Id": "run.architect.2"}).json()
    assert (answer["id"], answer["object"]) == ("chatcmpl-run.architect.2", "chat.completion")
    message = answer["choices"][0]["message"]
    assert json.loads(message["content"]) == {"approach": "Set the option.", "risk": "Root can no longer log in."}
    assert message["reasoning"].startswith("The setting stands")
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


def test_thinking_can_be_switched_off(instant: Simulator):
    answer = post(instant, body(chat_template_kwargs={"enable_thinking": False})).json()
    assert answer["choices"][0]["message"]["reasoning"] is None


def test_one_token_is_one_token(instant: Simulator):
    answer = post(instant, body(max_tokens=1)).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 1


def test_an_answer_that_ignores_its_end_is_as_long_as_asked(instant: Simulator):
    answer = post(instant, body(ignore_eos=True, max_tokens=300, response_format={"type": "text"})).json()
    assert (answer["choices"][0]["finish_reason"], answer["usage"]["completion_tokens"]) == ("length", 300)


def test_content_may_come_in_parts(instant: Simulator):
    parts = [{"type": "text", "text": "Rule: V-1\n"}, {"type": "text", "text": "Attempt: 2"}]
    answer = post(instant, body(messages=[{"role": "user", "content": parts}])).json()
    assert "elsewhere" in answer["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        (body(model="other"), 404, "The model `other` does not exist."),
        (body(messages=[{"role": "user", "content": "x" * 20_000}]), 400, "maximum context length is 4096 tokens"),
        (body(max_tokens=4096), 400, "'max_tokens' is too large: 4096"),
        (body(max_tokens=0), 400, "at least 1, got 0"),
        (body(messages=[]), 400, "empty conversation"),
        (
            body(response_format={"type": "json_schema", "json_schema": {"schema": {"type": "strin"}}}),
            400,
            "Grammar error",
        ),
        (body(response_format={"type": "json_schema"}), 400, "Grammar error"),
        (body(temperature="hot"), 400, "validation error"),
        ({"model": MODELS["gemma-31b"]}, 400, "validation error"),
        (b"{broken", 400, "validation error"),
    ],
)
def test_a_request_at_fault_is_told_so(instant: Simulator, request_, status, words):
    answer = post(instant, request_)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, status)
    assert words in error["message"]
    assert set(error) == {"message", "type", "param", "code"}


def test_a_stream_has_begun_when_its_grammar_is_refused(instant: Simulator):
    answer = post(instant, body(stream=True, response_format=shaped({"type": "strin"})))
    event, done, nothing = answer.text.split("\n\n")
    assert (answer.status_code, done, nothing) == (200, "data: [DONE]", "")
    assert json.loads(event.removeprefix("data: "))["error"]["code"] == 400


def test_unknown_fields_and_guided_json_are_passed_over(instant: Simulator):
    answer = post(instant, body(response_format=None, guided_json={"type": "object"}, frobnicate=3))
    assert answer.json()["choices"][0]["message"]["content"].startswith("This engine is simulated")


def test_every_place_says_that_it_is_simulated(instant: Simulator):
    version = httpx.get(f"{instant.root()}/version")
    assert version.json() == {"version": "0.25.1+temper.simulated", "simulated": True}
    assert version.headers["server"] == "temper-simulator"
    assert httpx.get(f"{instant.root()}/simulator/gpus").json()["simulated"] is True
    assert httpx.get(f"{instant.root()}/simulator/faults").json()["simulated"] is True
    assert "[simulated] Application startup complete." in httpx.get(f"{instant.root()}/simulator/log").text
    assert httpx.get(f"{instant.root()}/load").json() == {"server_load": 0}


def test_gpus_show_what_the_lineup_measured(instant: Simulator):
    gpus = httpx.get(f"{instant.root()}/simulator/gpus").json()["gpus"]
    assert [(gpu["index"], gpu["memory_used_gib"], gpu["memory_total_gib"]) for gpu in gpus] == [
        (0, 21.9, 23.0),
        (1, 21.9, 23.0),
    ]
    assert all(gpu["utilization"] <= 100 and gpu["power_w"] >= 28 for gpu in gpus)


def test_a_real_turn_costs_few_chunks_when_nothing_waits(instant: Simulator):
    assert len(stream(instant, stream_options=USAGE)) <= 12
