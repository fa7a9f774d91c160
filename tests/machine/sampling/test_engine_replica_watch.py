"""Replicas as they are seen from outside: what is wrong with one is a sentence, and the others go on."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from app.engines.launch.launch_command import build_launch_command
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.replica_choice import EngineTraffic
from app.lineups.model import Engine, Launch
from app.machine.sampling.engine_replica_watch import CHECK_EVERY, ReplicaWatch
from app.machine.sampling.engine_watch import EngineWatch

BASES = ("http://a/v1", "http://b/v1")
ENGINE = Engine("big", "Big", "org/big", "bf16", (0, 1), 1, 4096, served_name="big", base_urls=BASES)
MODELS = {"data": [{"id": "big", "max_model_len": 4096}]}


class Servers:
    """By host name: what each path answers; a path that is not there refuses the connection."""

    def __init__(self, **hosts):
        self.hosts = hosts

    def __call__(self, request):
        answer = self.hosts.get(request.url.host, {}).get(request.url.path)
        if answer is None:
            raise httpx.ConnectError("refused")
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, **answer)


def vllm(running=0, generated=100, started=1000.0, models=MODELS):
    text = (
        f'vllm:num_requests_running{{a="b"}} {running}\nvllm:num_requests_waiting{{a="b"}} 0\n'
        f'vllm:kv_cache_usage_perc{{a="b"}} 0.5\nvllm:prompt_tokens_total{{a="b"}} 10\n'
        f'vllm:generation_tokens_total{{a="b"}} {generated}\nprocess_start_time_seconds {started}\n'
    )
    return {"/health": {}, "/v1/models": {"json": models}, "/metrics": {"text": text}}


async def looked(servers, *nows, traffic=None, base="http://a/v1"):
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        replica = ReplicaWatch(http, ENGINE, base, traffic or EngineTraffic())
        for now, change in nows:
            change()
            await replica.poll_and_read_counters(now)
        return replica


def as_it_is():
    pass


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ({"json": {"data": [{"id": "other"}]}}, "it serves other, not big: check base_urls and served_name"),
        (
            {"json": {"data": [{"id": "big", "max_model_len": 2048}]}},
            "it holds 2048 tokens, the line-up says 4096: mend max_model_len",
        ),
        (httpx.Response(401, json={"error": "Unauthorized"}), "key"),
        ({"text": "<html>welcome</html>"}, "is not a list of models: check that base_url is right"),
    ],
)
async def test_what_answers_and_is_not_what_the_line_up_says_is_told(models, sentence):
    seen = await looked(Servers(a=vllm() | {"/v1/models": models}), (0.0, as_it_is))
    assert sentence in seen.condition.detail
    assert seen.condition.state != "ready"


async def test_what_answers_on_the_port_of_an_engine_of_ours_that_ended_is_not_asked_and_gets_no_turn(tmp_path):
    lost = replace(ENGINE, base_urls=(), launch=Launch(8100, ("/nowhere/vllm", "serve")))
    traffic = EngineTraffic()
    async with httpx.AsyncClient(transport=httpx.MockTransport(Servers(a=vllm(running=3)))) as http:
        started = LaunchedReplica(lost, 0, build_launch_command(lost, 0), "home", tmp_path, http)
        replica = ReplicaWatch(http, lost, "http://a/v1", traffic, launched=started)
        assert traffic.unavailable == {"http://a/v1"}
        await started.start()
        assert await replica.poll_and_read_counters(0.0) is None
    assert replica.condition.state == "dead"
    assert traffic.unavailable == {"http://a/v1"}


async def test_what_was_wrong_is_looked_at_again_until_it_is_mended():
    servers = Servers(a=vllm(models={"data": [{"id": "other"}]}))

    def mend():
        servers.hosts["a"] = vllm()

    assert (await looked(servers, (0.0, as_it_is), (1.0, mend))).condition.state == "ready"


async def test_what_is_right_is_believed_for_a_while():
    servers = Servers(a=vllm())

    def spoil():
        servers.hosts["a"] = vllm(models={"data": []})

    assert (await looked(servers, (0.0, as_it_is), (1.0, spoil))).condition.state == "ready"
    later = await looked(Servers(a=vllm(models={"data": []})), (CHECK_EVERY, as_it_is))
    assert "it serves nothing" in later.condition.detail


async def test_another_process_than_before_is_said_for_a_minute():
    servers = Servers(a=vllm(started=1000.0))

    def restart():
        servers.hosts["a"] = vllm(started=2000.0)

    anew = await looked(servers, (0.0, as_it_is), (1.0, restart))
    assert anew.condition.state == "ready"
    assert anew.condition.detail == "it was started anew at 00:33:20 UTC, not by Temper"
    servers.hosts["a"] = vllm(started=1000.0)
    assert (await looked(servers, (0.0, as_it_is), (1.0, restart), (90.0, as_it_is))).condition.detail == ""


async def test_tokens_that_stand_still_while_requests_run_are_a_stall():
    servers = Servers(a=vllm(running=1))
    stalled = await looked(servers, *((float(now), as_it_is) for now in range(0, 120, 5)))
    assert stalled.condition.state == "stalled"


async def test_of_two_replicas_the_one_that_is_gone_is_passed_over_and_the_sums_are_of_the_other():
    servers, traffic = Servers(a=vllm(running=3, generated=100), b=vllm(running=2, generated=50)), EngineTraffic()
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        watch = EngineWatch(ENGINE, BASES, http, traffic=traffic)
        both = await watch.poll_and_list_events(0.0)
        assert both[0].state == "ready"
        assert both[-1].running == 5
        assert traffic.rank_replica_indexes_by_health_and_load(BASES)[0] == 1, "the emptier one"
        del servers.hosts["b"]
        one = await watch.poll_and_list_events(1.0)
        assert (one[0].state, one[0].detail) == ("degraded", "1 of 2 replicas serve")
        assert one[0].replicas[0] == "ready"
        assert one[-1].running == 3
        assert traffic.rank_replica_indexes_by_health_and_load(BASES)[0] == 0, "the one that is left, however busy"


async def test_looks_at_one_server_go_by_one_connection():
    connections, asked = [], []

    async def serve(reader, writer):
        connections.append(writer)
        while head := await reader.readuntil(b"\r\n\r\n"):
            asked.append(head.split()[1])
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, httpx.AsyncClient(trust_env=False) as http:
        replica = ReplicaWatch(http, ENGINE, base, EngineTraffic())
        await replica.poll_and_read_counters(0.0)
        await replica.poll_and_read_counters(1.0)
        assert asked.count(b"/health") == 2
        assert len(connections) == 1
        for one in connections:
            one.close()


async def test_a_server_with_nothing_but_the_api_is_ready_and_counted_by_us():
    endpoint = Engine("e", "E", "m", "unstated", (), 1, 4096, kind="openai", base_urls=("http://a/v1",))
    missing, models = httpx.Response(404), {"json": {"data": [{"id": "m"}]}}
    servers = Servers(a={"/health": missing, "/v1/models": models})
    traffic = EngineTraffic()
    traffic.add_written_tokens("http://a/v1", 7)
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        replica = ReplicaWatch(http, endpoint, "http://a/v1", traffic)
        sample = await replica.poll_and_read_counters(1.0)
        assert (replica.condition.state, replica.condition.detail) == ("ready", "")
        with traffic.track_request("http://a/v1"):
            busy = await replica.poll_and_read_counters(2.0)
        servers.hosts["a"]["/v1/models"] = httpx.Response(500)
        await replica.poll_and_read_counters(3.0)
    assert (sample.generation_tokens, sample.running, busy.running, sample.kv_used) == (7, 0, 1, None)
    assert replica.condition.state != "ready"


async def test_a_server_that_breaks_answers_off_is_not_looked_at_while_it_answers_us():
    endpoint = Engine("e", "E", "m", "unstated", (), 1, 4096, kind="openai", base_urls=("http://a/v1",), max_num_seqs=1)
    servers, traffic = Servers(a={"/health": {}, "/v1/models": {"json": {"data": [{"id": "m"}]}}}), EngineTraffic()
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        replica = ReplicaWatch(http, endpoint, "http://a/v1", traffic)
        await replica.poll_and_read_counters(1.0)
        servers.hosts.clear()
        with traffic.track_request("http://a/v1"):
            await replica.poll_and_read_counters(2.0)
            assert replica.condition.state == "ready"
        await replica.poll_and_read_counters(3.0)
    assert replica.condition.state != "ready"
