"""A probe as a transcript: what the engine was asked, and what came of it."""

import httpx
import pytest

from app.engines.chat_request_and_reply_encoding import build_request_body
from app.engines.fit.estimate_result import Estimate
from app.errors import BadInput, EngineUnavailable
from app.machine.measuring.probe import EngineBusy, create_question, run_probe
from app.machine.measuring.probe_load_steps import ProbeStep
from tests.machine.measuring.playing import Wire, subject


async def probed(wire, **changes):
    told = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(wire)) as http:
        return await run_probe(subject(http, **changes), told.append), told


async def test_an_engine_is_asked_alone_then_by_four_then_by_eight():
    wire = Wire()
    found, told = await probed(wire)
    assert [one["max_tokens"] for one in wire.asked] == [16, 128, 256, 512, *[256] * 12]
    assert told[-1] == "gemma-31b: 8 streams of 256 tokens (5 of 5)"
    assert (found.problem, found.notes) == ("", ())


async def test_no_prompt_comes_twice_and_none_begins_like_another():
    wire = Wire()
    await probed(wire)
    heads = [one["messages"][0]["content"][:14] for one in wire.asked]
    assert len(set(heads)) == len(heads)


async def test_memory_versions_and_cards_are_kept_with_it():
    found, _ = await probed(Wire())
    assert found.find_value("vram_gib_per_gpu") == 21.9
    assert found.gpus == ("NVIDIA L4", "NVIDIA L4")
    assert (found.conditions["vLLM"], found.conditions["context"], found.conditions["tp"]) == ("0.25.1", "4096", "2")


async def test_the_limit_is_shared_out_where_a_speed_was_measured():
    found, _ = await probed(Wire(), limit=Estimate(20.0, "derived", "300 ÷ 15"))
    speed = found.find_value("1x512.tok_s")
    assert speed
    assert found.find_value("limit_share") == pytest.approx(100 * speed / 20.0)


async def test_what_is_accepted_is_read_from_the_counters():
    found, _ = await probed(Wire(speculates=True))
    assert found.find_value("acceptance_length") == pytest.approx(2.0)
    assert found.find_value("acceptance_rate") == pytest.approx(50.0)
    assert (await probed(Wire()))[0].find_figure("acceptance_length").source == "nothing was drafted"


async def test_a_busy_engine_is_not_disturbed():
    wire = Wire(running=3)
    with pytest.raises(EngineBusy, match="3 requests are being answered by gemma-31b"):
        await probed(wire)
    assert wire.asked == []


async def test_work_for_others_is_noted():
    found, _ = await probed(Wire(others=40))
    assert "for somebody else" in found.notes[0]


async def test_a_failure_on_the_way_keeps_what_was_measured():
    found, _ = await probed(Wire(fails_at=3))
    assert found.problem.startswith("it ended at 4 streams of 256 tokens: http://e failed (500): EngineCore is gone")
    assert found.find_value("1x512.tok_s")
    assert found.find_figure("8x256.tok_s") is None
    assert found.notes == ()


async def test_another_model_is_named():
    with pytest.raises(BadInput, match="serves org/other, not nvidia/Gemma-4-31B-IT-NVFP4"):
        await probed(Wire(serves="org/other"))


async def test_nothing_that_answers_is_an_error_and_no_probe():
    def refuses(_):
        raise httpx.ConnectError("refused")

    with pytest.raises(EngineUnavailable, match="is the engine running"):
        await probed(refuses)


def test_each_prompt_differs_from_its_first_word_on():
    texts = [
        create_question("m", ProbeStep(8, 256), stream, f"{stream:08x}").messages[0].content for stream in range(8)
    ]
    assert len({text[:16] for text in texts}) == 8
    assert len({text.rpartition("\n\n")[2] for text in texts}) == 8


def test_the_answer_is_free_and_as_long_as_asked():
    asked = build_request_body(create_question("m", ProbeStep(1, 256), 0, "a1"))
    assert (asked["max_tokens"], asked["ignore_eos"], asked["temperature"]) == (256, True, 0.0)
    assert "response_format" not in asked
