"""The real thing, once: llama.cpp on this processor, with the small model's weights, from its start to its end."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from app.engines.launch.engine_fleet import compute_data_folder_id, run_fleet
from app.engines.launch.process_search import find_marked_processes
from app.engines.replica_choice import EngineTraffic
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.engine_watch import EngineWatch
from tests.engines.asking import ask, text
from tests.engines.launch.conftest import free_port, until

SHAPE = {
    "type": "object",
    "properties": {"approach": {"type": "string", "maxLength": 20}, "risk": {"enum": ["low", "high"]}},
    "required": ["approach", "risk"],
    "additionalProperties": False,
}


def on_a_free_port():
    engine = read_lineup(require_lineup_path("cpu")).engines["smollm2"]
    assert engine.launch
    return replace(engine, max_model_len=512, max_num_seqs=1, launch=replace(engine.launch, port=free_port()))


@pytest.mark.timeout(300)
async def test_a_real_model_starts_answers_by_a_schema_tells_of_itself_and_is_gone(tmp_path):
    engine = on_a_free_port()
    async with httpx.AsyncClient() as http:
        async with run_fleet({engine.name: engine}, tmp_path, http) as ours:
            [one] = ours[engine.name]
            await until(lambda: one.read_status().state in ("ready", "dead"), seconds=200)
            assert one.read_status().state == "ready", one.read_status().detail
            said = await ask(
                http, one.base, model="smollm2-stig", schema=SHAPE, max_tokens=200, temperature=0.0, stall_after=100
            )
            answer = json.loads(text(said, "answer"))
            assert (sorted(answer), answer["risk"] in ("low", "high")) == (["approach", "risk"], True)
            loaded = (await http.get(f"{one.base.removesuffix('/v1')}/lora-adapters")).json()
            assert [(Path(own["path"]).name, own["scale"]) for own in loaded] == [("smollm2-stig.gguf", 1.0)]
            counted, told = max(delta.tokens for delta in said[:-1]), said[-1].completion_tokens
            assert 0 < counted <= told  # the last ones have no text
            watch = EngineWatch(engine, (one.base,), http, EngineTraffic(), launched=[one])
            state, sampled = await watch.poll_and_list_events(asyncio.get_running_loop().time())
            assert (state.state, sampled.simulated, sampled.running) == ("ready", False, 0)
            assert 0.05 < sampled.resident_gib < 0.7
        assert find_marked_processes(f"{compute_data_folder_id(tmp_path)}/") == []
