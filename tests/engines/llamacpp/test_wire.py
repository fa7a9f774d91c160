"""What llama.cpp's server says, read by the client, the sampler and the doctor as vLLM's is."""

from functools import reduce

import httpx
import pytest

from app.engines.chat_question_and_reply_types import Finished
from app.engines.client import EngineClient, ServedModel
from app.engines.cold_start_progress import ColdStart, apply_log_line
from app.engines.doctor.engine_log_boots import read_boots
from app.engines.doctor.log_checks import diagnose_log
from app.engines.doctor.server_checks import diagnose_server, inspect_server
from app.engines.engine_metrics import EngineSample, include_running_answers, parse_metrics
from app.engines.replica_choice import EngineTraffic
from app.errors import EngineRefused, EngineUnavailable
from app.machine.sampling.engine_replica_watch import ReplicaWatch
from tests.engines.asking import ask, text
from tests.engines.llamacpp.recorded import DATA, ENGINE, RECORDED, server

LOG = (DATA / "logs" / "llamacpp-2026.10.log").read_text().splitlines()


def client(**how):
    return EngineClient(httpx.AsyncClient(transport=server(**how)), "http://e/v1")


async def test_every_piece_carries_the_engines_own_count():
    async with httpx.AsyncClient(transport=server()) as http:
        replies = await ask(http, "http://e/v1", model="smollm2")
    assert text(replies, "answer").lstrip().startswith("{")
    counts = [one.tokens for one in replies[:-1]]
    assert counts == sorted(counts)
    assert counts[0] >= 1
    end = replies[-1]
    assert isinstance(end, Finished)
    assert (end.finish_reason, end.prompt_tokens, end.completion_tokens) == ("stop", 38, 39)


async def test_a_prompt_that_is_too_long_is_called_so():
    async with httpx.AsyncClient(transport=server(too_long=True)) as http:
        with pytest.raises(EngineRefused, match="shorten the prompt or the answer"):
            await ask(http, "http://e/v1")


async def test_while_it_loads_it_cannot_take_a_request():
    with pytest.raises(EngineUnavailable, match="Loading model"):
        await client(loading=True).list_models()
    assert not await client(loading=True).is_ready()


async def test_its_model_has_a_context_a_program_and_a_quantization():
    served = ServedModel("smollm2", 4096, "xllamacpp 2026.10.11549", "Q4_1", billions=0.134515008)
    assert await client().list_models() == (served,)
    assert await client().is_ready("smollm2")
    assert await client().read_version() == ""


def test_its_metrics_have_the_names_of_vllms():
    sample = parse_metrics((RECORDED / "metrics.txt").read_text())
    assert (sample.running, sample.waiting, sample.kv_used) == (0, 0, None)
    assert (sample.prompt_tokens, sample.generation_tokens) == (38, 39)
    assert (sample.prefix_queries, sample.prefix_hits) == (38, 0)
    assert (sample.missing, sample.counts_late) == ("", True)


async def test_tokens_of_an_answer_that_is_being_written_are_looked_up():
    sample = await client(busy=True).read_sample()
    assert (sample.running, sample.generation_tokens, sample.reading) == (1, 0, 38)
    assert sample.in_flight == 14
    assert include_running_answers(None, sample).generation_tokens == 14


def counted(finished, in_flight):
    return EngineSample(1, 0, None, 0, finished, counts_late=True, in_flight=in_flight)


def test_an_answer_that_ends_between_two_looks_is_not_taken_for_a_restart():
    before = include_running_answers(None, counted(100, 30))
    gap = include_running_answers(before, counted(100, 0))
    assert (before.generation_tokens, gap.generation_tokens) == (130, 130)
    assert include_running_answers(gap, counted(132, 0)).generation_tokens == 132


def test_a_restart_is_one():
    before = include_running_answers(None, counted(100, 30))
    assert include_running_answers(before, counted(0, 4)).generation_tokens == 4


async def test_a_replica_of_it_is_well():
    async with httpx.AsyncClient(transport=server(busy=True)) as http:
        replica = ReplicaWatch(http, ENGINE, "http://e/v1", EngineTraffic())
        sample = await replica.poll_and_read_counters(1.0)
    assert (replica.condition.state, replica.condition.detail) == ("ready", "")
    assert sample
    assert sample.generation_tokens == 14


def test_its_log_is_a_cold_start():
    cold = reduce(lambda so_far, line: apply_log_line(so_far, line, 5.0), LOG, ColdStart(1.0))
    names = [step.name for step in cold.steps]
    assert names == ["engine starts", "weights loaded", "KV cache laid out", "server up"]
    assert (cold.version, cold.find_figure("KV cache laid out")) == ("2026.10.11549", 12_288)


def findings(lines):
    return [(one.check, one.severity) for one in diagnose_log(read_boots(lines, "log"))]


def test_the_doctor_reads_its_log():
    assert findings(LOG) == []
    assert findings(LOG[:5]) == [("not-up-yet", "warn")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "0.00.003.325 E srv  start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8111",
            "port is taken",
        ),
        ("0.00.010.178 E llama_model_load: error loading model: failed to load model from a.gguf", "cannot read"),
        ("temper: the weights smollm2 are not installed beside python: set it up.", "weights smollm2"),
        ("python: ModuleNotFoundError: No module named 'xllamacpp'", "not installed"),
    ],
)
def test_the_doctor_knows_its_last_lines(line, says):
    [finding] = diagnose_log(read_boots([LOG[0], line], "log"))
    assert (finding.check, finding.severity) == ("fatal-line", "stop")
    assert says in finding.says


@pytest.mark.parametrize(("how", "found"), [({}, []), ({"busy": True}, []), ({"loading": True}, ["not-healthy"])])
async def test_the_doctor_looks_at_it_as_at_vllm(how, found):
    async with httpx.AsyncClient(transport=server(**how)) as http:
        look = await inspect_server(http, "http://e/v1")
    assert [one.check for one in diagnose_server(look, ENGINE)] == found
