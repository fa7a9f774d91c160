"""Given these chunks at these times, these pieces and this end."""

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.chat_question_and_reply_types import Delta, Finished, Message, Question, ServerDialect
from app.engines.chat_request_and_reply_encoding import (
    EVERYTHING,
    ChatReply,
    build_request_body,
    build_request_headers_without_key,
)
from app.errors import EngineDied, EngineRefused
from tests.engines.transcript import DONE, chunk, event, usage

STREAMS = Path(__file__).parent.parent / "data" / "streams"
SAID = {
    # stream: prompt tokens, completion tokens, how it ended
    "gpu-0.25.1-31b-bf16.txt": (538, 42, "stop"),
    "cpu-0.32.0.txt": (17, 40, "length"),
    "cpu-0.32.0-mtp.txt": (17, 40, "length"),
    "llamacpp-2026.10.txt": (38, 39, "stop"),
}
QUESTION = Question(
    model="org/small",
    messages=(Message("system", "You plan."), Message("user", "Rule: V-257985")),
    schema_name="plan",
    schema={"type": "string", "maxLength": 9, "pattern": "^/"},
    request_id="r7.architect.3",
    max_tokens=800,
    temperature=0.3,
    extra={"chat_template_kwargs": {"enable_thinking": True}},
)


def play(*timed: tuple[float, bytes], dialect: ServerDialect = EVERYTHING) -> tuple[list[Delta], Finished]:
    reply = ChatReply(100.0, dialect)
    deltas = [delta for at, data in timed for delta in reply.feed(data, at)]
    return deltas, reply.finish()


def end_of(*pieces: bytes) -> Finished:
    return play(*((101.0, piece) for piece in pieces))[1]


def test_a_reply_thinks_then_answers():
    deltas, finished = play(
        (100.4, chunk(0, role="assistant", content="")),
        (100.5, chunk(1, reasoning="The backup ")),
        (100.7, chunk(4, reasoning="logs in as root.")),
        (100.9, chunk(6, content='{"a":')),
        (101.1, chunk(7, content="1}")),
        (101.2, chunk(8, finish="stop", content="")),
        (101.2, usage(8)),
        (101.2, DONE),
    )
    assert deltas == [
        Delta("thought", "The backup ", 1),
        Delta("thought", "logs in as root.", 4),
        Delta("answer", '{"a":', 6),
        Delta("answer", "1}", 7),
    ]
    assert finished == Finished(
        finish_reason="stop",
        prompt_tokens=12,
        completion_tokens=8,
        ttft=pytest.approx(0.5),
        decode_rate=pytest.approx(7 / 0.7),
        leaked=False,
    )


def test_reasoning_has_two_names_and_the_newer_one_wins():
    deltas, _ = play(
        (100.5, chunk(1, reasoning_content="old")),
        (100.6, chunk(2, reasoning="new", reasoning_content="old")),
        (100.7, chunk(3, reasoning="both", content="at once")),
        (100.8, chunk(4, finish="stop")),
    )
    assert [(d.channel, d.text) for d in deltas] == [
        ("thought", "old"),
        ("thought", "new"),
        ("thought", "both"),
        ("answer", "at once"),
    ]


def test_tokens_are_the_engines_count_and_not_the_chunks():
    deltas, finished = play(
        (100.5, chunk(3, content="three tokens at once")),
        (100.6, chunk(3, content="")),
        (101.5, chunk(13, content="ten more")),
        (109.0, chunk(13, finish="stop", content="")),
    )
    assert [d.tokens for d in deltas] == [3, 13]
    assert finished.decode_rate == pytest.approx(10 / 1.0)


def test_without_counts_on_the_chunks_the_rate_is_unknown():
    _, finished = play(
        (100.5, chunk(None, content="a")),
        (101.5, chunk(None, content="b")),
        (101.6, chunk(None, finish="stop")),
        (101.6, usage(40)),
        (101.6, DONE),
    )
    assert (finished.completion_tokens, finished.ttft, finished.decode_rate) == (40, pytest.approx(0.5), None)


def test_a_reply_that_came_in_one_piece_has_no_rate():
    assert end_of(chunk(1, content="a") + chunk(5, content="b") + chunk(5, finish="stop")).decode_rate is None


def test_an_answer_handed_over_in_lumps_has_no_rate_of_its_own():
    """A starved server on a CPU: the lump's rate would be the network's, 50,995 tokens a second once."""
    _, finished = play(
        (101.0, chunk(1, content="a")),
        (101.01, chunk(400, content="b") + chunk(800, content="c")),
        (101.02, chunk(800, finish="length") + DONE),
    )
    assert (finished.completion_tokens, finished.decode_rate) == (800, None)


def test_tokens_without_text_count_from_the_first():
    _, finished = play(
        (101.0, chunk(1, content="")), (103.0, chunk(21, content="a")), (103.0, chunk(21, finish="stop") + DONE)
    )
    assert (finished.ttft, finished.decode_rate) == (pytest.approx(1.0), pytest.approx(10.0))


def test_an_answer_of_a_stop_token_alone_has_a_first_token_and_no_rate():
    finished = end_of(chunk(0, role="assistant", content=""), chunk(1, finish="stop", content=""), DONE)
    assert (finished.ttft, finished.decode_rate, finished.leaked) == (1.0, None, True)


@pytest.mark.parametrize("tail", [[], [DONE], [usage(3), DONE]])
def test_a_finish_reason_ends_a_reply_with_or_without_done(tail):
    assert end_of(chunk(2, content="a"), chunk(3, finish="length"), *tail).finish_reason == "length"


@pytest.mark.parametrize("tail", [[], [DONE], [usage(3), DONE]])
def test_the_end_without_a_finish_reason_is_a_death(tail):
    with pytest.raises(EngineDied, match="before its answer was complete"):
        end_of(chunk(2, content="a"), *tail)


def test_an_error_chunk_is_a_death_and_keeps_what_came_before_it():
    reply = ChatReply(started=100.0)
    error = event(
        {"error": {"message": "EngineCore\nencountered an issue.", "type": "InternalServerError", "code": 500}}
    )
    deltas = reply.feed(chunk(2, content="half an ans") + error + DONE + chunk(3, content="late"), 100.5)
    assert [d.text for d in deltas] == ["half an ans"]
    assert reply.ended
    with pytest.raises(EngineDied, match=r"middle of its answer: EngineCore encountered an issue\.$"):
        reply.finish()


def test_a_refusal_inside_the_stream_is_the_requests_fault():
    error = event({"error": {"message": "Unsupported type", "type": "BadRequestError", "param": None, "code": 400}})
    with pytest.raises(EngineRefused, match=r"\(400\): Unsupported type"):
        end_of(error + DONE)


@pytest.mark.parametrize(
    "line",
    [
        b"data: {broken\n\n",
        b"data: [1, 2]\n\n",
        b'data: {"choices":[{"delta":{"content":7}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ud800"}}]}\n\n',
        b'data: {"x":' + b"[" * 1_000_000 + b"\n\n",
    ],
)
def test_what_is_not_vllms_json_is_a_death(line):
    with pytest.raises(EngineDied, match="not vLLM's JSON"):
        end_of(chunk(1, content="a"), line, chunk(2, finish="stop"))


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_answer_the_engine_gave_up_is_a_death(reason):
    with pytest.raises(EngineDied, match=f"finish_reason {reason}"):
        end_of(chunk(1, content="a"), chunk(2, finish=reason), DONE)


def test_what_follows_done_is_not_read():
    deltas, _ = play((100.5, chunk(1, content="a") + chunk(2, finish="stop") + DONE + chunk(3, content="late")))
    assert [d.text for d in deltas] == ["a"]


def test_line_separators_inside_json_survive():
    deltas, _ = play((100.5, chunk(1, content="a\u2028b\u0085c")), (100.6, chunk(2, finish="stop")))
    assert deltas[0].text == "a\u2028b\u0085c"


STREAM = b"".join(
    [
        chunk(0, role="assistant", content=""),
        chunk(1, reasoning="naïve – 界 🙂"),
        chunk(3, content='{"a": "\u2028'),
        chunk(3, content=""),
        chunk(6, content='é"}'),
        chunk(7, finish="stop", content=""),
        usage(7),
        DONE,
    ]
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_any_cut_of_the_stream_gives_the_same_reply(cuts):
    cuts = sorted(cuts)
    pieces = [STREAM[a:b] for a, b in zip([0, *cuts], [*cuts, len(STREAM)], strict=True)]
    whole = play((101.0, STREAM))
    assert play(*((101.0, piece) for piece in pieces)) == whole
    assert whole[0] == [
        Delta("thought", "naïve – 界 🙂", 1),
        Delta("answer", '{"a": "\u2028', 3),
        Delta("answer", 'é"}', 6),
    ]


def test_the_request_binds_the_shape_and_asks_for_counts():
    request = build_request_body(QUESTION)
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "plan", "schema": {"type": "string", "maxLength": 9}},
    }
    assert request["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert request["messages"][1] == {"role": "user", "content": "Rule: V-257985"}
    assert request["timings_per_token"] is True
    assert (request["stream"], request["max_tokens"], request["temperature"]) == (True, 800, 0.3)
    assert request["chat_template_kwargs"] == {"enable_thinking": True}
    assert build_request_headers_without_key(QUESTION)["X-Request-Id"] == "r7.architect.3"


def test_bytes_that_are_not_text_do_not_reach_the_engine():
    name = b"/var/spool/\xff".decode("utf-8", "surrogateescape")
    question = Question("m", (Message("user", name),), "plan", {}, "r", 1, 0.0)
    assert json.dumps(build_request_body(question), ensure_ascii=False).encode()
    assert build_request_body(question)["messages"][0]["content"] == "/var/spool/?"


@pytest.mark.parametrize("size", [1, 7, 65536])
@pytest.mark.parametrize("name", sorted(path.name for path in STREAMS.glob("*.txt")))
def test_what_real_engines_stream(name, size):
    """However the network cuts it: an answer's text is the same, and its tokens are those of usage."""
    data = (STREAMS / name).read_bytes()
    whole, _ = play((101.0, data))
    pieces = [(101.0 + n / 1e6, data[n : n + size]) for n in range(0, len(data), size)]
    deltas, finished = play(*pieces)
    assert (finished.prompt_tokens, finished.completion_tokens, finished.finish_reason) == SAID[name]
    assert "".join(delta.text for delta in deltas) == "".join(delta.text for delta in whole) != ""


PLAIN = ServerDialect(extensions=False, structured=False)


def test_a_server_that_takes_no_extension_gets_none():
    body = build_request_body(QUESTION, frozenset(), PLAIN)
    assert sorted(body) == ["max_tokens", "messages", "model", "stream", "stream_options", "temperature"]
    assert body["stream_options"] == {"include_usage": True}
    assert "response_format" in build_request_body(QUESTION, frozenset(), ServerDialect(extensions=False))
    assert build_request_body(QUESTION)["chat_template_kwargs"] == {"enable_thinking": True}


def test_a_server_with_the_older_form_gets_the_schema_in_it_and_a_request_id_that_is_a_uuid():
    older = ServerDialect(extensions=False, schema_form="json_object")
    body = build_request_body(QUESTION, frozenset(), older)
    assert body["response_format"] == {"type": "json_object", "schema": {"type": "string", "maxLength": 9}}
    ids = [
        build_request_headers_without_key(one, older)["X-Request-Id"]
        for one in (QUESTION, replace(QUESTION, request_id="r8"))
    ]
    assert len({UUID(one) for one in ids}) == 2


@given(st.data())
def test_a_thought_between_tags_is_a_thought_however_it_is_cut(data):
    text = '\n<think>so < that </thin is it</think>\n\n{"a": "<think>"}'
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    deltas, _ = play(*((101.0, chunk(1, content=piece)) for piece in pieces), (102.0, chunk(2, finish="stop") + DONE))
    said = {name: "".join(d.text for d in deltas if d.channel == name) for name in ("thought", "answer")}
    assert said["thought"] == "so < that </thin is it"
    assert said["answer"].lstrip() == '{"a": "<think>"}'


def test_an_answer_that_only_looks_like_a_tag_is_whole():
    deltas, _ = play(
        (101.0, chunk(1, content="<thi")), (102.0, chunk(2, content="s>")), (103.0, chunk(3, finish="stop"))
    )
    assert [(d.channel, d.text) for d in deltas] == [("answer", "<this>")]
    deltas, _ = play((101.0, chunk(1, content="<thi")), (103.0, chunk(3, finish="stop")))
    assert [(d.channel, d.text) for d in deltas] == [("answer", "<thi")]


def test_pieces_count_as_tokens_until_the_server_counts():
    reply = ChatReply(100.0, PLAIN)
    deltas = [one for at in range(5) for one in reply.feed(chunk(None, content="x"), 101.0 + at)]
    reply.feed(chunk(None, finish="stop") + usage(9) + DONE, 106.0)
    assert [one.tokens for one in deltas] == [1, 2, 3, 4, 5]
    end = reply.finish()
    assert (end.completion_tokens, end.decode_rate) == (9, 2.0)


def test_a_server_that_never_counts_is_measured_by_its_pieces():
    timed = [(101.0 + at, chunk(None, content="x")) for at in range(5)]
    _, finished = play(*timed, (106.0, chunk(None, finish="stop") + DONE), dialect=PLAIN)
    assert (finished.completion_tokens, finished.decode_rate) == (5, 1.0)
    assert play(*timed, (106.0, chunk(None, finish="stop") + DONE))[1].decode_rate is None, "it should have counted"
