"""SGLang 0.5.17 as it was recorded, read by the client, the doctor and the probe."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from app.engines.chat_question_and_reply_types import Finished, ServerDialect
from app.engines.client import SILENT, EngineClient
from app.engines.doctor.server_kinds import (
    LABELS,
    explain_server_if_models_listed,
    recognize_kind_or_unknown_and_version,
)
from app.engines.engine_metrics import parse_metrics
from app.engines.server_capabilities import inspect_endpoint
from app.errors import EngineRefused
from tests.engines.asking import ask, text

RECORDED = Path(__file__).parents[1] / "data" / "sglang"
BASE = "http://sglang:30000/v1"
TOO_LONG = (
    b'{"object":"error","message":"The input (40031 tokens) is longer than the model\'s context length (8192 tokens).",'
    b'"type":"BadRequestError","param":null,"code":400}'
)
TOO_LONG_AN_ANSWER = (
    b'{"object":"error","message":"max_completion_tokens is too large: 9000.This model supports at most 8192 '
    b'completion tokens.","type":"BadRequestError","param":null,"code":400}'
)
MID_ANSWER = """\
sglang:num_running_reqs{model_name="stig",tp_rank="0"} 1.0
sglang:num_queue_reqs{model_name="stig",tp_rank="0"} 2.0
sglang:token_usage{model_name="stig",tp_rank="0"} 0.25
sglang:max_total_num_tokens{model_name="stig",tp_rank="0"} 1.082946e+06
sglang:realtime_tokens_total{mode="prefill_compute",model_name="stig",tp_rank="0"} 11141.0
sglang:realtime_tokens_total{mode="decode",model_name="stig",tp_rank="0"} 1441.0
sglang:realtime_tokens_total{mode="prefill_cache",model_name="stig",tp_rank="0"} 4550.0
sglang:prompt_tokens_total{is_streaming="true",model_name="stig"} 13605.0
sglang:generation_tokens_total{is_streaming="true",model_name="stig"} 1317.0
sglang:cached_tokens_total{cache_source="device",model_name="stig"} 2685.0
"""
"""What Temper reads of its metrics while it wrote an answer; the recorded values, but for the queue and the usage."""


class Server:
    """Answers as SGLang did. Its /health takes `health_s`, as the real one takes a second."""

    def __init__(self, *, health_s=0.0, generates=True, refusal=b"", names=("/server_info", "/model_info")):
        self.health_s, self.generates, self.refusal, self.names = health_s, generates, refusal, names
        self.alive, self.asked = True, []

    async def __call__(self, request):
        path = request.url.path
        self.asked.append(path)
        if not self.alive:
            raise httpx.ConnectError("connection refused")
        if path == "/health":
            self._require_generation()
            await asyncio.sleep(self.health_s)
            return httpx.Response(200)
        if path == "/v1/chat/completions":
            return self._complete(json.loads(request.content))
        if path == "/server_info":
            self._require_generation()
        pages = {"/v1/models": "models.json", "/metrics": "metrics.txt"}
        pages |= {name: f"{name.removeprefix('/').removeprefix('get_')}.json" for name in self.names}
        if path not in pages:
            return httpx.Response(404, json={"detail": "Not Found"})
        return httpx.Response(200, content=(RECORDED / pages[path]).read_bytes())

    def _require_generation(self):
        if not self.generates:
            raise httpx.ReadTimeout("its scheduler is frozen")

    def _complete(self, body):
        if self.refusal.startswith(b"{"):
            return httpx.Response(400, content=self.refusal)
        content = self.refusal or (RECORDED / "stream.txt").read_bytes()
        return httpx.Response(200, content=content, headers={"content-type": "text/event-stream; charset=utf-8"})

    def open_client(self, *, extensions=False, **how):
        http = httpx.AsyncClient(transport=httpx.MockTransport(self))
        return EngineClient(http, BASE, dialect=ServerDialect(extensions=extensions), **how)


async def test_its_answer_and_its_counts_are_read():
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server())) as http:
        replies = await ask(http, BASE, model="smollm2-135m")
    assert json.loads(text(replies, "answer")) == {"word": "temper"}
    assert isinstance(replies[-1], Finished)
    assert (replies[-1].finish_reason, replies[-1].prompt_tokens, replies[-1].completion_tokens) == ("stop", 38, 12)


async def test_a_schema_that_its_grammar_cannot_express_is_a_refusal():
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server(refusal=_read("refused.txt")))) as http:
        with pytest.raises(EngineRefused, match="Lookbehind is not supported yet"):
            await ask(http, BASE, model="smollm2-135m")


@pytest.mark.parametrize("refusal", [TOO_LONG, TOO_LONG_AN_ANSWER])
async def test_what_is_too_long_is_called_so(refusal):
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server(refusal=refusal))) as http:
        with pytest.raises(EngineRefused, match="more than its context length holds"):
            await ask(http, BASE, model="smollm2-135m")


async def test_the_probe_names_it_with_its_version_and_finds_its_metrics():
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server())) as http:
        report = await inspect_endpoint(http, BASE)
    assert (report.program, report.context, report.structured, report.metrics) == ("SGLang 0.5.17", 8192, True, True)


async def test_the_doctor_names_it_with_its_version():
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server())) as http:
        found = await explain_server_if_models_listed(http, BASE)
    assert (found.kind, found.version) == ("sglang", "0.5.17")
    assert LABELS["metrics"] in found.gives


@pytest.mark.parametrize("name", ["/model_info", "/get_model_info"])
async def test_it_is_recognised_by_either_name_of_its_model_info(name):
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server(names=(name,)))) as http:
        assert await recognize_kind_or_unknown_and_version(http, BASE, ()) == ("sglang", "")


async def test_what_its_metrics_say_when_it_is_idle():
    sample = await Server().open_client().read_sample()
    assert (sample.running, sample.waiting, sample.kv_used, sample.kv_tokens) == (0, 0, 0.0, 1_082_946)
    assert (sample.prompt_tokens, sample.generation_tokens, sample.prefix_hits) == (238, 71, 185)
    assert (sample.first_tokens, round(sample.first_token_seconds, 2), sample.missing) == (9, 14.37, "")


def test_tokens_of_an_answer_count_while_it_is_written():
    """A count that stands still for twenty seconds of a long answer would say that the engine stalled."""
    sample = parse_metrics(MID_ANSWER)
    assert (sample.running, sample.waiting, sample.kv_used) == (1, 2, 0.25)
    assert (sample.prompt_tokens, sample.generation_tokens) == (11141 + 4550, 1441)
    assert (sample.prefix_queries, sample.prefix_hits) == (11141 + 4550, 4550)


def test_a_version_without_live_counts_is_read_by_what_has_ended():
    ended = "\n".join(line for line in MID_ANSWER.splitlines() if "realtime" not in line) + "\n"
    sample = parse_metrics(ended)
    assert (sample.prompt_tokens, sample.generation_tokens, sample.prefix_hits) == (13605, 1317, 2685)


def test_other_ranks_of_one_model_are_not_added_and_replicas_by_data_are():
    """--enable-metrics-for-all-schedulers reports each rank."""
    other = "".join(f"{line}\n" for line in MID_ANSWER.splitlines() if "tp_rank" in line)
    other = other.replace('tp_rank="0"', 'tp_rank="1"')
    assert parse_metrics(MID_ANSWER + other) == parse_metrics(MID_ANSWER)
    data = other.replace('tp_rank="1"', 'tp_rank="1",dp_rank="1"')
    assert parse_metrics(MID_ANSWER + data).running == 2


async def test_its_slow_health_is_asked_once_and_its_server_info_from_then_on():
    server = Server(health_s=0.05)
    client = server.open_client(slow_health=0.01)
    assert [await client.read_health_status() for _ in range(3)] == [200, 200, 200]
    assert server.asked == ["/health", "/server_info", "/server_info", "/server_info"]


async def test_after_a_fault_only_health_says_that_it_is_well_again():
    """Its /server_info answers already while the kernels are compiled."""
    server = Server(health_s=0.05)
    client = server.open_client(slow_health=0.01)
    await client.read_health_status()
    server.generates = False
    assert await client.read_health_status() == SILENT
    server.generates, server.alive = True, False
    assert await client.read_health_status() is None
    server.alive, server.asked = True, []
    assert await client.read_health_status() == 200
    assert server.asked[0] == "/health"


@pytest.mark.parametrize("extensions", [False, True])
async def test_a_quick_health_and_one_of_an_engine_of_ours_are_asked_as_before(extensions):
    server = Server(health_s=0.05)
    client = server.open_client(extensions=extensions, slow_health=0.01 if extensions else 5.0)
    assert [await client.read_health_status() for _ in range(2)] == [200, 200]
    assert server.asked == ["/health", "/health"]


async def test_a_slow_server_without_server_info_is_asked_for_its_health():
    server = Server(health_s=0.05, names=())
    client = server.open_client(slow_health=0.01)
    assert [await client.read_health_status() for _ in range(2)] == [200, 200]
    assert server.asked == ["/health", "/server_info", "/health", "/server_info"]


async def test_server_info_of_another_server_says_nothing_about_its_health():
    """vLLM has one in its development mode, and the process that answers it outlives a dead engine."""

    class DevelopmentServer(Server):
        async def __call__(self, request):
            answer = await super().__call__(request)
            other = httpx.Response(200, json={"vllm_config": "model='m'"})
            return other if request.url.path == "/server_info" else answer

    server = DevelopmentServer(health_s=0.05)
    client = server.open_client(slow_health=0.01)
    assert [await client.read_health_status() for _ in range(2)] == [200, 200]
    assert server.asked == ["/health", "/server_info", "/health", "/server_info"]


def _read(name):
    return (RECORDED / name).read_bytes()
