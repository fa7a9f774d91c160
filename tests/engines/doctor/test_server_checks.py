"""A server looked at from outside: what it answers, and what is said of it."""

from dataclasses import replace

import httpx
import pytest

from app.engines.client import ServedModel
from app.engines.doctor.server_checks import ServerReport, diagnose_server, inspect_server
from app.engines.engine_metrics import EngineSample, parse_metrics
from app.lineups.model import Speculation
from tests.engines.doctor.sick import served

SAMPLE = EngineSample(running=0, waiting=0, kv_used=0.1, prompt_tokens=1, generation_tokens=1)
WELL = ServerReport("http://e", 200, "0.25.1", (ServedModel("m", 8192),), sample=SAMPLE)
ONE = served(served_name="m", max_model_len=8192)


def told(look, one=ONE):
    return [(found.check, found.severity) for found in diagnose_server(look, one)]


def sampled(**more):
    return replace(WELL, sample=replace(SAMPLE, **more))


def test_a_server_that_is_well_has_no_findings():
    assert told(WELL) == []
    assert told(WELL, None) == []
    for version in ("v0.25.1", "0.25.1.dev3+g1a2b", "0.25.1rc1"):
        assert told(replace(WELL, version=version)) == []


@pytest.mark.parametrize(
    ("look", "finding"),
    [
        (ServerReport("http://e"), ("not-answering", "note")),
        (replace(WELL, health=503), ("not-healthy", "stop")),
        (replace(WELL, models=()), ("model-not-listed", "stop")),
        (replace(WELL, models=(ServedModel("other", 8192),)), ("model-not-listed", "stop")),
        (replace(WELL, models=(ServedModel("m", 4096),)), ("shorter-than-lineup", "warn")),
        (replace(WELL, calls_tools=False), ("missing-parsers", "warn")),
        (replace(WELL, version=""), ("unknown-version", "note")),
        (replace(WELL, version="0.18.1"), ("unknown-version", "warn")),
        (replace(WELL, version="0.26.0"), ("other-version", "note")),
        (replace(WELL, version="0.25.10"), ("other-version", "note")),
        (replace(WELL, version="0.23.0"), ("kv-not-told", "note")),
        (replace(WELL, sample=None, no_metrics="no"), ("metrics-missing", "warn")),
        (sampled(missing="its metrics are neither"), ("metrics-missing", "warn")),
        (sampled(kv_used=0.95), ("kv-nearly-full", "warn")),
        (sampled(preemptions=3), ("preemptions", "note")),
        (sampled(drafts=5, draft_tokens=100, accepted_tokens=30), ("acceptance-on-random-tokens", "note")),
    ],
)
def test_what_is_wrong_is_said(look, finding):
    assert finding in told(look)


def test_a_server_that_nobody_meant_is_a_stop_where_it_was_asked_for():
    assert told(ServerReport("http://e"), None) == [("not-answering", "stop")]


def test_a_drafter_that_was_left_out_is_told():
    one = replace(ONE, speculation=Speculation("mtp", "a", 2))
    assert ("no-drafts", "warn") in told(WELL, one)
    assert told(sampled(drafts=0), one) == []


def answers(**pages):
    """A server with those pages; the rest are 404."""

    def answer(request):
        status, body = pages.get(request.url.path.strip("/").replace("/", "_"), (404, "not here"))
        return httpx.Response(status, **({"text": body} if isinstance(body, str) else {"json": body}))

    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


MODELS = (200, {"data": [{"id": "m", "max_model_len": 8192}]})
VLLM = {"health": (200, ""), "version": (200, {"version": "0.25.1"}), "v1_models": MODELS}
NO_TOOLS = {"error": {"message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'}}


async def looked(**pages):
    async with answers(**pages) as http:
        return await inspect_server(http, "http://e/v1")


async def test_another_program_is_not_vllm():
    for pages in ({"health": (200, "ok"), "v1_models": (200, "<html>")}, {}):
        [found] = diagnose_server(await looked(**pages))
        assert (found.check, found.severity) == ("not-vllm", "stop")
        assert found.says.startswith("http://e is neither vLLM nor llama.cpp")


async def test_a_wrong_key_is_told():
    look = await looked(**VLLM | {"v1_models": (401, {"error": "Unauthorized"})})
    assert told(look, None) == [("wrong-key", "stop")]


async def test_a_server_without_a_tool_parser_is_told():
    look = await looked(**VLLM, v1_chat_completions=(400, NO_TOOLS))
    assert ("missing-parsers", "warn") in told(look)
    assert (await looked(**VLLM, v1_chat_completions=(200, {}))).calls_tools


async def test_metrics_of_another_program_are_told():
    look = await looked(**VLLM, metrics=(200, "go_goroutines 7\n"))
    assert ("metrics-missing", "warn") in told(look)
    assert look.sample == parse_metrics("go_goroutines 7\n")


async def test_the_simulator_is_a_server_that_is_well(instant, http):
    look = await inspect_server(http, f"{instant.root()}/v1")
    assert [one.check for one in diagnose_server(look) if one.severity != "note"] == []
