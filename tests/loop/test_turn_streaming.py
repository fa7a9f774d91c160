"""A turn at the wire: given these chunks from an engine, these events in the log."""

import asyncio
import json

import httpx
import pytest

from app.engines.chat_question_and_reply_types import Delta, Message, Question
from app.engines.client import EngineClient
from app.events.kinds import TurnDelta
from app.loop import turn_streaming as turn_module
from app.loop.turn_streaming import DeltaMerger, TurnName, stream_turn

NAME = TurnName("r.1", "architect", "plan")
QUESTION = Question("m", (Message("user", "?"),), "plan", {}, "r.1.architect", 100, 0.0)
USAGE = {"prompt_tokens": 7, "total_tokens": 9}


class Log:
    def __init__(self):
        self.events = []

    def append(self, *events):
        self.events.extend(events)

    @property
    def frames(self):
        return [(one.channel, one.text, one.tokens) for one in self.events if isinstance(one, TurnDelta)]


def chunk(delta, tokens, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "choices": [choice], "usage": {**USAGE, "completion_tokens": tokens}}


def wire(*chunks):
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


GOOD = wire(
    chunk({"role": "assistant", "content": ""}, 0),
    chunk({"reasoning": "I think "}, 2),
    chunk({"reasoning": "so."}, 3),
    chunk({"content": "{}"}, 4),
    chunk({}, 4, "stop"),
)


async def turn(handler, *, seconds=5.0, stall_after=5.0):
    log = Log()
    async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as http:
        client = EngineClient(http, "http://engine/v1")
        end = await stream_turn(NAME, client, QUESTION, log, seconds=seconds, stall_after=stall_after)
    return end, log


def answering(*answers):
    left = list(answers)

    def handler(_):
        status, body = left.pop(0) if len(left) > 1 else left[0]
        return httpx.Response(status, content=body, headers={"content-type": "text/event-stream"})

    return handler


async def test_thought_and_answer_arrive_in_their_channels_with_the_engines_own_count():
    end, log = await turn(answering((200, GOOD)))
    assert (end.outcome, end.thought, end.answer, end.completion_tokens) == ("answered", "I think so.", "{}", 4)
    assert "".join(text for channel, text, _ in log.frames if channel == "thought") == "I think so."
    assert log.frames[-1] == ("answer", "{}", 4)


async def test_pieces_that_come_at_once_travel_in_one_frame():
    pieces = [chunk({"reasoning": f"{number} "}, number) for number in range(1, 200)]
    end, log = await turn(answering((200, wire(*pieces, chunk({}, 199, "stop")))))
    assert len(log.frames) < 20
    assert "".join(text for _, text, _ in log.frames) == end.thought


async def test_a_lone_piece_is_sent_at_once_and_what_comes_right_behind_it_is_merged(monkeypatch):
    monkeypatch.setattr(turn_module, "MERGE_SECONDS", 20.0)
    log = Log()
    merger = DeltaMerger(NAME, log)
    for number, text in enumerate(("so ", "it ", "is"), 1):
        merger.add(Delta("thought", text, number))
    assert log.frames == [("thought", "so ", 1)]
    merger.close()
    assert log.frames[1:] == [("thought", "it is", 3)]


async def test_an_engine_that_dies_keeps_what_it_said():
    body = wire(chunk({"reasoning": "I th"}, 1), {"error": {"message": "EngineCore died", "code": 500}})
    end, log = await turn(answering((200, body)))
    assert (end.outcome, end.thought) == ("died", "I th")
    assert log.frames == [("thought", "I th", 1)]


async def test_done_without_a_finish_reason_is_a_death():
    end, _ = await turn(answering((200, wire(chunk({"content": "{}"}, 1)))))
    assert end.outcome == "died"


async def test_a_refused_request_is_not_asked_again():
    asked = []

    def handler(request):
        asked.append(request)
        return httpx.Response(400, json={"error": {"message": "maximum context length is 4096", "code": 400}})

    end, _ = await turn(handler)
    assert (end.outcome, len(asked)) == ("refused", 1)
    assert "context length" in end.detail


async def test_an_engine_that_is_not_ready_yet_is_waited_for():
    busy = json.dumps({"error": {"message": "loading", "code": 503}}).encode()
    end, _ = await turn(answering((503, busy), (503, busy), (200, GOOD)))
    assert end.outcome == "answered"


async def test_an_engine_that_does_not_get_ready_is_asked_now_and_then_until_the_turn_is_over():
    asked = []

    def handler(request):
        asked.append(request)
        return httpx.Response(503, json={"error": {"message": "loading", "code": 503}})

    end, _ = await turn(handler, seconds=0.3)
    assert (end.outcome, len(asked) < 4) == ("unavailable", True)
    assert "It was waited for" in end.detail


async def test_a_turn_ends_within_its_budget_whatever_the_engine_does():
    async def endless(_):
        await asyncio.Event().wait()

    end, _ = await turn(endless, seconds=0.1)
    assert end.outcome == "over_budget"


@pytest.mark.parametrize("cut", [1, 40, 333])
async def test_bytes_may_be_cut_anywhere(cut):
    async def pieces():
        for start in range(0, len(GOOD), cut):
            yield GOOD[start : start + cut]

    def handler(_):
        return httpx.Response(200, content=pieces(), headers={"content-type": "text/event-stream"})

    end, _ = await turn(handler)
    assert (end.thought, end.answer) == ("I think so.", "{}")


@pytest.mark.parametrize(("counted", "unit"), [(True, "tokens"), (False, "pieces")])
async def test_a_reply_that_repeats_itself_is_cut_and_says_after_how_much(counted, unit):
    pieces = [chunk({"content": "and then the same, "}, n if counted else None) for n in range(1, 200)]
    log, body = Log(), wire(*pieces, chunk({}, 200, "length"))
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})
    )
    async with httpx.AsyncClient(transport=transport) as http:
        client = EngineClient(http, "http://engine/v1")
        finished = await stream_turn(NAME, client, QUESTION, log, seconds=5, stall_after=5)
    assert (finished.outcome, finished.looped) == ("broken", True)
    assert finished.detail == f"it repeated itself and was cut after {finished.completion_tokens} {unit}"
    assert 0 < finished.completion_tokens < 60
    assert finished.answer.startswith("and then the same, ")
