"""An engine that answers, refuses, dies, falls silent or is not there: one error each, with words that help."""

import asyncio
import json
import time
from contextlib import aclosing, asynccontextmanager

import httpx
import pytest

from app.engines.chat_question_and_reply_types import Delta, Finished
from app.engines.client import EngineClient, ServedModel
from app.errors import EngineDied, EngineRefused, EngineStalled, EngineUnavailable
from tests.engines.asking import ask, question
from tests.engines.conftest import MODELS, Simulator
from tests.engines.transcript import DONE, chunk, usage

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@asynccontextmanager
async def server(*steps):
    """A server that plays one script for every connection: bytes to send, or an awaitable to wait for."""

    async def play(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        try:
            for step in steps:
                if isinstance(step, bytes):
                    writer.write(step)
                    await writer.drain()
                else:
                    await step()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(play, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"


async def forever() -> None:
    await asyncio.Event().wait()


def answer(status: str, body: bytes, kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body


async def test_the_pieces_come_first_and_the_end_last(http):
    script = [STREAM, chunk(1, reasoning="hm"), chunk(2, content="{}"), chunk(3, finish="stop"), usage(3), DONE]
    async with server(*script) as base_url:
        replies = await ask(http, base_url)
    assert replies[:-1] == [Delta("thought", "hm", 1), Delta("answer", "{}", 2)]
    assert isinstance(replies[-1], Finished)
    assert replies[-1].ttft < 5


async def test_a_finished_reply_does_not_wait_for_the_connection_to_close(http):
    async with server(STREAM, chunk(1, content="{}"), chunk(2, finish="stop"), DONE, forever) as base_url:
        replies = await asyncio.wait_for(ask(http, base_url, stall_after=60.0), 5)
    assert replies[-1].finish_reason == "stop"


async def test_nobody_listens(http):
    async with server() as base_url:
        pass
    with pytest.raises(EngineUnavailable, match="is the engine running"):
        await ask(http, base_url)


async def test_an_engine_with_a_name_is_called_by_it_and_no_address_or_library_speaks(http, caplog):
    async with server() as base_url:
        pass
    caplog.set_level("INFO")
    with pytest.raises(EngineUnavailable) as gone:
        await EngineClient(http, base_url, name="Engine big").list_models()
    assert str(gone.value) == "Engine big cannot be reached: is the engine running?"
    assert base_url.removesuffix("/v1") in caplog.text
    cut = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nda"
    async with server(cut) as base_url:
        with pytest.raises(EngineDied) as broken:
            async for _ in EngineClient(http, base_url, name="Engine big").stream_reply(question(), stall_after=5.0):
                pass
    assert str(broken.value) == "Engine big broke its answer off: look at the engine's log."


@pytest.mark.parametrize("base_url", ["http://[/v1", "ftp://host/v1"])
async def test_an_address_that_is_none(http, base_url):
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        await ask(http, base_url)


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        ("503 No", b'{"error":{"message":"queue is full"}}', EngineUnavailable, r"\(503\): queue is full"),
        ("502 No", b"<html>Bad Gateway</html>", EngineUnavailable, r"\(502\): <html>Bad Gateway</html>"),
        ("404 No", b'{"error":{"message":"The model `x` does not exist."}}', EngineRefused, "The model `x` does not"),
        ("401 No", b'{"error":"Unauthorized"}', EngineRefused, r"API key \(401\): Unauthorized"),
        ("400 No", b'{"error":{"message":"Grammar error: bad"}}', EngineRefused, "Grammar error: bad"),
        ("400 No", b'{"error":{"message":"maximum context length is 4096"}}', EngineRefused, "shorten the prompt"),
        ("400 No", b'{"error":{"message":"greater than max_model_len=4096"}}', EngineRefused, "shorten the prompt"),
        ("400 No", b"", EngineRefused, "no reason given"),
        ("307 No", b"", EngineRefused, r"refused the request \(307\)"),
        ("500 No", b'{"error":{"message":"EngineCore is gone"}}', EngineDied, "EngineCore is gone"),
    ],
)
async def test_a_refusal_keeps_the_engines_own_words(http, status, body, error, words):
    async with server(answer(status, body)) as base_url:
        with pytest.raises(error, match=words):
            await ask(http, base_url)


async def test_a_grammar_that_cannot_be_made_is_a_refusal(http, instant: Simulator):
    with pytest.raises(EngineRefused, match="Grammar error: Unsupported type 'strin'"):
        await ask(http, f"{instant.root()}/v1", schema={"type": "strin"})


async def test_a_web_page_is_not_a_stream(http):
    async with server(answer("200 OK", b"<html>hello</html>", "text/html")) as base_url:
        with pytest.raises(EngineRefused, match="text/html instead of a stream"):
            await ask(http, base_url)


async def test_an_endless_refusal_is_read_only_so_far(http):
    async def pour() -> None:
        await asyncio.sleep(0)

    head = b"HTTP/1.1 400 No\r\n\r\n"
    async with server(head, *[b"x" * 65536] * 400, pour, forever) as base_url:
        with pytest.raises(EngineRefused) as caught:
            await asyncio.wait_for(ask(http, base_url, stall_after=60.0), 10)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "script",
    [
        [b""],
        [STREAM],
        [STREAM, chunk(1, content="{")],
        [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nda"],
        [b"nonsense\r\n\r\n"],
    ],
)
async def test_a_connection_that_breaks_off_is_a_death(http, script):
    async with server(*script) as base_url:
        with pytest.raises(EngineDied):
            await ask(http, base_url)


@pytest.mark.parametrize("script", [[], [STREAM], [STREAM, chunk(1, content="{")]])
async def test_silence_is_told_from_death(http, script):
    async with server(*script, forever) as base_url:
        began = time.monotonic()
        with pytest.raises(EngineStalled, match=r"nothing for 0\.2 s"):
            await ask(http, base_url, stall_after=0.2)
    assert time.monotonic() - began < 2


async def test_a_health_answer_that_trickles_is_not_waited_for(http):
    async def trickle() -> None:
        await asyncio.sleep(0.05)

    drops = [step for _ in range(100) for step in (b"x", trickle)]
    async with server(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", *drops) as base_url:
        assert await EngineClient(http, base_url, patience=0.3).is_ready() is False


async def test_ready_means_healthy_and_serving_the_model(http, instant: Simulator):
    client = EngineClient(http, f"{instant.root()}/v1")
    assert await client.is_ready()
    assert await client.is_ready(MODELS["gemma-31b"])
    assert not await client.is_ready("some/other")
    name = MODELS["gemma-31b"]
    assert await client.list_models() == (ServedModel(name, 4096, owner="temper-simulator", root=name),)


async def test_a_server_that_is_no_engine_is_not_ready(http):
    async with server(answer("200 OK", b"[1, 2]")) as base_url:
        client = EngineClient(http, base_url)
        assert not await client.is_ready()
        with pytest.raises(EngineRefused, match="not a list of models"):
            await client.list_models()


async def test_the_engines_own_counts_match_the_replies(http, instant: Simulator):
    client = EngineClient(http, f"{instant.root('gemma-e4b')}/v1")
    before = await client.read_sample()
    finished = (await ask(http, f"{instant.root('gemma-e4b')}/v1", engine="gemma-e4b"))[-1]
    after = await client.read_sample()
    assert after.generation_tokens - before.generation_tokens == finished.completion_tokens
    assert after.prompt_tokens - before.prompt_tokens == finished.prompt_tokens
    assert (after.running, after.waiting, after.kv_used) == (0, 0, 0.0)


async def until_idle(client: EngineClient) -> float:
    began = time.monotonic()
    while (await client.read_sample()).running:
        assert time.monotonic() - began < 5
    return time.monotonic() - began


@pytest.mark.parametrize("silent", [False, True])
async def test_closing_ends_the_request_at_the_engine(http, brisk: Simulator, silent):
    """Best of three: another process may hold the machine for a moment, but not each time."""
    client = EngineClient(http, f"{brisk.root()}/v1")
    taken = []
    for _ in range(3):
        brisk.fault("stall" if silent else "babble", after_tokens=3)
        replies = client.stream_reply(question(max_tokens=3000), stall_after=5.0)
        await anext(replies)
        assert (await client.read_sample()).running == 1
        await replies.aclose()
        taken.append(await until_idle(client))
    assert min(taken) < 0.2
    log = (await http.get(f"{brisk.root()}/simulator/log")).text
    assert log.count("Aborted request chatcmpl-run.architect.1") >= 3


async def test_cancelling_ends_the_request_at_the_engine(http, brisk: Simulator):
    client = EngineClient(http, f"{brisk.root()}/v1")
    taken = []
    for _ in range(3):
        brisk.fault("stall", after_tokens=3)
        started = asyncio.Event()

        async def listen(started: asyncio.Event) -> None:
            async with aclosing(client.stream_reply(question(), stall_after=5.0)) as replies:
                async for _ in replies:
                    started.set()

        task = asyncio.create_task(listen(started))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        taken.append(await until_idle(client))
    assert min(taken) < 0.2


async def test_fifty_times_the_pace_is_kept(http, brisk: Simulator):
    brisk.fault("babble")
    finished = (await ask(http, f"{brisk.root()}/v1", max_tokens=1000))[-1]
    assert finished.completion_tokens == 1000
    assert finished.decode_rate == pytest.approx(15.1 * 50, rel=0.1)


@asynccontextmanager
async def choosy(refuses):
    """A server that refuses each request in whose body `refuses` finds something; it keeps what it was asked."""
    asked = []

    async def play(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        body = await reader.readexactly(int(head.partition("content-length: ")[2].split("\r\n")[0]))
        asked.append(json.loads(body))
        error = b'{"error":{"message":"Grammar error: no"}}'
        begins = STREAM.replace(b"OK\r\n", b"OK\r\nconnection: close\r\n")
        good = [begins, chunk(1, content="{}"), chunk(2, finish="stop"), DONE]
        writer.write(answer("400 No", error) if refuses(asked[-1]) else b"".join(good))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(play, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", asked


def shape_of(body):
    return body["response_format"]["json_schema"]["schema"]


PATTERN = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^[^a]{0,9}$"}}, "required": ["x"]}


async def test_an_engine_without_patterns_is_found_out_once_and_asked_without_them(http):
    async with choosy(lambda body: "pattern" in json.dumps(shape_of(body))) as (base_url, asked):
        client = EngineClient(http, base_url)
        for _ in range(2):
            async with aclosing(client.stream_reply(question(schema=PATTERN), stall_after=5)) as replies:
                assert await anext(replies) == Delta("answer", "{}", 1)
    assert len(asked) == 1 + 4 + 1 + 1
    assert shape_of(asked[-1])["properties"]["x"] == {"type": "string", "maxLength": 9}


async def test_a_refusal_for_another_reason_is_not_taken_for_a_lack(http):
    async with choosy(lambda _: True) as (base_url, asked):
        with pytest.raises(EngineRefused):
            await ask(http, base_url, schema=PATTERN)
    assert len(asked) == 2


async def ask_both_then_read(http, base_url):
    """Two requests at once before it is known what the engine lacks; return their last pieces."""
    client = EngineClient(http, base_url)
    asked = (client.read_reply(question(schema=PATTERN, request_id=name), stall_after=5) for name in ("one", "two"))
    return client, await asyncio.gather(*asked)


async def test_two_that_are_refused_at_once_are_both_asked_again_and_the_engine_is_tested_once(http):
    async with choosy(lambda body: "pattern" in json.dumps(shape_of(body))) as (base_url, asked):
        client, replies = await ask_both_then_read(http, base_url)
        await client.read_reply(question(schema=PATTERN), stall_after=5)
    assert [pieces for pieces, _ in replies] == [[Delta("answer", "{}", 1)]] * 2
    assert len(asked) == 2 + 4 + 2 + 1
    assert "pattern" not in json.dumps(shape_of(asked[-1]))


async def test_a_refusal_that_comes_after_the_other_ones_test_is_not_final():
    second_asked, first_answered = asyncio.Event(), asyncio.Event()

    async def play(request):
        body, is_second = json.loads(request.content), request.headers["x-request-id"] == "two"
        if "pattern" in json.dumps(shape_of(body)):
            if is_second:
                second_asked.set()
            await (first_answered if is_second else second_asked).wait()
            return httpx.Response(400, json={"error": {"message": "Grammar error: no"}})
        if body["max_tokens"] > 1:  # no test
            first_answered.set()
        lines = (chunk(1, content="{}"), chunk(2, finish="stop"), DONE)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"".join(lines))

    async with httpx.AsyncClient(transport=httpx.MockTransport(play)) as http:
        _, replies = await ask_both_then_read(http, "http://engine:8000/v1")
    assert [pieces for pieces, _ in replies] == [[Delta("answer", "{}", 1)]] * 2
